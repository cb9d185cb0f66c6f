/** VALUES: every value of the chart, one line each; the order is that of values.yaml. From it come values.yaml, values.schema.json
 *  and docs/reference/chart.md.
 *  Not here: the two programs' own (engine-values.ts, operator-values.ts), what templates make of them (charts/pergola). */
import { OPTIONS } from '../../engine/config/options.ts';
import { ENGINE_VALUES } from './engine-values.ts';
import { OPERATOR_VALUES } from './operator-values.ts';
import {
  count,
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

export const VALUES: Group = group('Secrets are only ever named, never given here.', {
  image: group(undefined, {
    repository: text('', 'pergola', { minLength: 1 }),
    tag: text("Empty is the chart's appVersion.", ''),
    digest: text('sha256:…; with it the tag says nothing.', '', { pattern: '^(sha256:[0-9a-f]{64})?$' }),
    pullPolicy: oneOf('', 'IfNotPresent', 'Always', 'Never'),
  }),
  imagePullSecrets: list('', NAMED),
  nameOverride: text('', ''),
  fullnameOverride: text('', ''),
  crds: group(undefined, {
    enabled: flag(
      'Install the custom resource definitions with this release; they stay when it is uninstalled. False where the chart ' +
        'pergola-crds does it.',
      true,
    ),
  }),
  engine: ENGINE_VALUES,
  operator: OPERATOR_VALUES,
  metrics: group('Numbers for Prometheus; see docs/reference/metrics.md.', {
    enabled: flag("Serve the engine's; the operator always does.", false),
    apis: list('The option enabled-apis where it is not given otherwise.', WORD, [
      ...OPTIONS['enabled-apis'].default,
      'metrics',
    ]),
    secret: keyOf('The bearer token a scraper sends; without one it needs the admin secret.', '', 'token'),
    serviceMonitor: group('Needs the definitions of the Prometheus operator.', {
      enabled: flag('', false),
      interval: text('', '30s'),
      labels: map(''),
    }),
    rules: group('Alerts.', { enabled: flag('', false), labels: map('') }),
    dashboard: group("A config map that Grafana's sidecar finds by its label.", {
      enabled: flag('', false),
      labels: map('', { grafana_dashboard: '1' }),
      annotations: map(''),
    }),
  }),
  postgres: group(
    'A small Postgres for trials: one pod, no backup, its data gone with it unless there is a claim.',
    {
      enabled: flag('The engine serves it instead of engine.database.', false),
      image: text('', 'postgres:18', { minLength: 1 }),
      password: keyOf('Of letters and digits, as it becomes part of a URL.', 'pergola-postgres', 'password'),
      runAsUser: count('', 999, 1),
      storage: group('A claim of this size and class; empty is a folder that goes with the pod.', {
        size: text('', ''),
        className: text('', ''),
      }),
      resources: map('', { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } }),
    },
  ),
  rbac: group(undefined, {
    aggregate: flag(
      'Adds our kinds to the roles view, edit and admin of Kubernetes; edit covers only kinds that concern single objects.',
      true,
    ),
  }),
  serviceAccount: group(undefined, { annotations: map('') }),
  extraObjects: list('Further objects of this release; templates are rendered.', OBJECT),
});
