/** VALUES: every value of the chart, in the order of values.yaml. values.yaml, values.schema.json and docs/reference/chart.md are
 *  generated from it.
 *  Not here: the values of engine and operator (engine-values.ts, operator-values.ts), templates (charts/pergola). */
import { OPTIONS } from '../../engine/config/options.ts';
import { ENGINE_VALUES } from './engine-values.ts';
import { OPERATOR_VALUES } from './operator-values.ts';
import {
  count,
  filledList,
  flag,
  type Group,
  group,
  keyOf,
  list,
  map,
  NAMED,
  OBJECT,
  oneOf,
  text,
  WORD,
} from './value.ts';

export const VALUES: Group = group(
  'Values name secrets; they never contain them. A value that is null is empty: a part or a flag is off, a list or a map has no ' +
    'entries. Values that cannot be empty keep their default.',
  {
    image: group(undefined, {
      repository: text('The image of engine and operator, without a tag.', 'pergola', { minLength: 1 }),
      tag: text("If empty, the chart's appVersion.", ''),
      digest: text('sha256:…; if set, the tag is ignored.', '', { pattern: '^(sha256:[0-9a-f]{64})?$' }),
      pullPolicy: oneOf('When nodes pull the image.', 'IfNotPresent', 'Always', 'Never'),
    }),
    imagePullSecrets: list('The secrets with which nodes pull the image.', NAMED),
    runAsUser: count(
      'The user and the group of the pods. 0 leaves both to the platform, as the restricted profile of OpenShift needs.',
      1000,
    ),
    nameOverride: text('The name of the application in labels, instead of that of the chart.', '', {
      maxLength: 53,
    }),
    fullnameOverride: text('The beginning of the names of all objects, instead of that of the release.', ''),
    crds: group(undefined, {
      enabled: flag(
        'Install the custom resource definitions with this release; they are kept when it is uninstalled. Set false if the ' +
          'chart pergola-crds installs them.',
        true,
      ),
    }),
    engine: ENGINE_VALUES,
    operator: OPERATOR_VALUES,
    metrics: group('Metrics for Prometheus; see docs/reference/metrics.md.', {
      enabled: flag('Serve metrics of the engine; the operator always serves its own.', false),
      apis: filledList('The default of the option enabled-apis.', WORD, [
        ...OPTIONS['enabled-apis'].default,
        'metrics',
      ]),
      secret: keyOf(
        'The secret with the bearer token of scrapers; without one they need the admin secret.',
        '',
        'token',
      ),
      serviceMonitor: group('A ServiceMonitor; requires the definitions of the Prometheus operator.', {
        enabled: flag('', false),
        interval: text('The interval at which Prometheus scrapes.', '30s'),
        labels: map('Labels by which Prometheus finds it.'),
      }),
      rules: group('A PrometheusRule with alerts.', {
        enabled: flag('', false),
        labels: map('Labels by which Prometheus finds it.'),
      }),
      dashboard: group("A config map that Grafana's sidecar finds by its label.", {
        enabled: flag('', false),
        labels: map('Labels by which the sidecar finds it.', { grafana_dashboard: '1' }),
        annotations: map('Annotations of the config map, such as the folder of Grafana.'),
      }),
    }),
    postgres: group(
      'A small Postgres for trials: one pod, no backup; without a volume claim its data is lost with the pod.',
      {
        enabled: flag('Install it and serve it instead of engine.database.', false),
        image: text('The image of Postgres.', 'postgres:18', { minLength: 1 }),
        password: keyOf(
          'The secret with its password, of letters and digits only, since it becomes part of a URL.',
          'pergola-postgres',
          'password',
        ),
        runAsUser: count('As above.', 999),
        storage: group('A volume claim of this size and class; if empty, an emptyDir.', {
          size: text('', ''),
          className: text('The storage class; if empty, the default of the cluster.', ''),
        }),
        resources: map('What the container requests, and its limits.', {
          requests: { cpu: '100m', memory: '128Mi' },
          limits: { memory: '512Mi' },
        }),
      },
    ),
    rbac: group(undefined, {
      aggregate: flag(
        'Add the kinds to the roles view, edit and admin of Kubernetes; edit covers only kinds that concern single objects.',
        true,
      ),
    }),
    serviceAccount: group(undefined, {
      annotations: map('Annotations of the service accounts, such as a role of the cloud.'),
    }),
    extraObjects: list('Additional objects of this release; templates in them are rendered.', OBJECT),
  },
);
