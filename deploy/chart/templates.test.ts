/** Tests the objects that helm renders from values. Not here: whether they work (deploy/e2e). */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { loadOptions } from '../../engine/config/load-options.ts';
import { isReserved } from '../../engine/metadata/variables.ts';
import { KINDS, type KindRow } from '../../operator/kinds.ts';
import { describeHelm, find, type Rendered } from '../../testing/helm.ts';

const CHARTS = join(dirname(dirname(import.meta.dirname)), 'charts');

/** A variable that comes from a secret; the engine cannot parse its options without it. */
const DATABASE = { ENGINE_GRAPHQL_DATABASE_URL: 'postgres://database' };

/** Values that enable every optional part. */
const EVERYTHING = {
  engine: {
    autoscaling: { enabled: true },
    ingress: { enabled: true, hosts: ['api.example.org'] },
    httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
    networkPolicy: { enabled: true, from: [{ namespaceSelector: { matchLabels: { clients: 'yes' } } }] },
  },
  operator: { replicas: 2, networkPolicy: { enabled: true } },
  metrics: {
    enabled: true,
    secret: { existingSecret: 'pergola-metrics' },
    serviceMonitor: { enabled: true },
    rules: { enabled: true },
    dashboard: { enabled: true },
  },
  postgres: { enabled: true, storage: { size: '1Gi' } },
  extraObjects: [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-extra' }, data: {} },
  ],
};

describeHelm('charts', (helm) => {
  test('helm lint finds nothing to complain of', async () => {
    const said = await helm.run(['lint', '--strict', join(CHARTS, 'pergola'), join(CHARTS, 'pergola-crds')]);
    expect(said).toContain('2 chart(s) linted, 0 chart(s) failed');
  });

  test('every part can be had at once, and each object once', async () => {
    const objects = await helm.template(EVERYTHING);
    const names = objects.map((x) => `${x.kind} ${x.metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    const kinds = [...new Set(objects.map((x) => x.kind))].sort();
    expect(kinds).toEqual(
      [
        ['ClusterRole', 'ClusterRoleBinding', 'ConfigMap', 'CustomResourceDefinition', 'Deployment'],
        ['HTTPRoute', 'HorizontalPodAutoscaler', 'Ingress', 'NetworkPolicy', 'Pod', 'PodDisruptionBudget'],
        [
          'PrometheusRule',
          'Role',
          'RoleBinding',
          'Service',
          'ServiceAccount',
          'ServiceMonitor',
          'StatefulSet',
        ],
      ]
        .flat()
        .sort(),
    );
    expect(find(objects, 'ConfigMap', 'pergola-extra')).toBeDefined();
  });

  test('editors of a namespace get the kinds that concern single objects, administrators all', async () => {
    const objects = await helm.template();
    const written = (role: string) => {
      const found = objects.find((x) => x.metadata.name.endsWith(`-${role}`) && x.kind === 'ClusterRole');
      return (found as unknown as { rules: { resources: string[] }[] }).rules[0]!.resources.toSorted();
    };
    const plurals = (rows: readonly KindRow[]) => rows.map(({ plural }) => plural).toSorted();
    const rows: readonly KindRow[] = KINDS;
    expect(written('edit')).toEqual(plurals(rows.filter(({ concerns }) => concerns === 'object')));
    expect(written('edit')).not.toContain('enginesettings');
    expect(written('admin')).toEqual(plurals(rows));
  });

  test('by default there is the least: no route in, no rule that needs another operator', async () => {
    const kinds = new Set((await helm.template()).map((x) => x.kind));
    for (const kind of [
      'Ingress',
      'HTTPRoute',
      'ServiceMonitor',
      'PrometheusRule',
      'StatefulSet',
      'Secret',
    ]) {
      expect(kinds).not.toContain(kind);
    }
  });

  test('every pod is as restricted as the pod security standard asks', async () => {
    for (const { kind, spec, template } of podsOf(await helm.template(EVERYTHING))) {
      expect(spec.securityContext, kind).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const container of spec.containers) {
        expect(container.securityContext, container.name).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(container.resources.requests, container.name).toBeDefined();
      }
      if (template !== 'pergola-operator') expect(spec.automountServiceAccountToken, kind).toBe(false);
    }
  });

  test('nothing is made of chance, the time or the cluster: the same values make the same objects', () => {
    const templates = readdirSync(join(CHARTS, 'pergola/templates')).filter((name) => name !== 'tests');
    for (const name of templates) {
      const text = readFileSync(join(CHARTS, 'pergola/templates', name), 'utf8');
      expect(text, name).not.toMatch(/\b(rand\w+|now|lookup|uuidv4|genCA|genSelfSignedCert)\b(?=[^}]*}})/);
    }
  });

  test('an engine that scales itself has no number of replicas for GitOps to fight over', async () => {
    const scaled = await helm.template({ engine: { replicas: 3, autoscaling: { enabled: true } } });
    expect(find(scaled, 'Deployment', 'pergola-engine').spec).not.toHaveProperty('replicas');
    expect(find(scaled, 'HorizontalPodAutoscaler').spec.scaleTargetRef.name).toBe('pergola-engine');
    const fixed = await helm.template({ engine: { replicas: 3 } });
    expect(find(fixed, 'Deployment', 'pergola-engine').spec.replicas).toBe(3);
  });

  test('the operator finds every pod that is ready behind a Service of its own, and a scraper no pod twice', async () => {
    const objects = await helm.template(EVERYTHING);
    const { metadata, spec } = find(objects, 'Service', 'pergola-engine-replicas');
    expect(spec).toMatchObject({ clusterIP: 'None', publishNotReadyAddresses: false });
    const pods = find(objects, 'Deployment', 'pergola-engine').spec;
    expect(spec.selector).toEqual(pods.selector.matchLabels);
    // A headless service does not map ports.
    expect(spec.ports[0].port).toBe(pods.template.spec.containers[0].ports[0].containerPort);
    const scraped = find(objects, 'ServiceMonitor', 'pergola-engine').spec.selector.matchLabels;
    expect(metadata.labels).not.toMatchObject(scraped);
  });

  test('there is a disruption budget for each part with several replicas', async () => {
    const budgets = (values: object) =>
      helm
        .template(values)
        .then((all) => all.filter((x) => x.kind === 'PodDisruptionBudget').map((x) => x.metadata.name));
    expect(await budgets({})).toEqual([]);
    expect(await budgets({ engine: { replicas: 2 }, operator: { replicas: 2 } })).toEqual([
      'pergola-engine',
      'pergola-operator',
    ]);
  });

  test('an ending pod serves until every node knows, and has the time to finish', async () => {
    const { spec } = find(await helm.template(), 'Deployment', 'pergola-engine').spec.template;
    expect(spec.containers[0].lifecycle.preStop.exec.command).toEqual(['sleep', '5']);
    const { gracefulShutdownTimeout } = loadOptions([], DATABASE);
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(5 + gracefulShutdownTimeout);
  });

  test('options become variables the engine reads', async () => {
    const options = {
      'pg-connections': 20,
      'enable-allowlist': true,
      'enabled-apis': ['graphql', 'metadata'],
      'max-request-body-length': 50_000_000,
      'unauthorized-role': 'anonymous',
    };
    const env = envOf(await helm.template({ engine: { options } }), 'pergola-engine');
    expect(loadOptions([], { ...env, ...DATABASE })).toMatchObject({
      pgConnections: 20,
      enableAllowlist: true,
      enabledApis: ['graphql', 'metadata'],
      maxRequestBodyLength: 50_000_000,
      unauthorizedRole: 'anonymous',
    });
  });

  test('secrets come from secrets', async () => {
    const secretOptions = { 'jwt-secret': { existingSecret: 'identity', key: 'jwt' } };
    const objects = await helm.template({ engine: { secretOptions } });
    const { env } = find(objects, 'Deployment', 'pergola-engine').spec.template.spec.containers[0];
    const from = (name: string) => env.find((x: Rendered) => x.name === name)?.valueFrom?.secretKeyRef;
    expect(from('ENGINE_GRAPHQL_JWT_SECRET')).toEqual({ name: 'identity', key: 'jwt' });
    expect(from('ENGINE_GRAPHQL_ADMIN_SECRET')).toEqual({ name: 'pergola-admin', key: 'admin-secret' });
    expect(from('ENGINE_GRAPHQL_DATABASE_URL')).toEqual({ name: 'pergola-database', key: 'url' });
  });

  test.each([
    ['a value there is not', { engine: { replica: 2 } }, /replica/],
    ['an option there is not', { engine: { options: { 'pg-connection': 20 } } }, /pg-connection/],
    ['a number beyond its bounds', { engine: { options: { 'pg-connections': 0 } } }, /pg-connections/],
    ['a secret given as an option', { engine: { options: { 'jwt-secret': '{}' } } }, /jwt-secret/],
    ['no admin secret', { engine: { adminSecret: { existingSecret: '' } } }, /adminSecret/],
    ['an ingress without hosts', { engine: { ingress: { enabled: true } } }, /ingress.hosts/],
    ['a route without a gateway', { engine: { httpRoute: { enabled: true } } }, /parentRefs/],
    [
      'metrics that are not among the APIs',
      { metrics: { enabled: true }, engine: { options: { 'enabled-apis': ['graphql'] } } },
      /enabled-apis/,
    ],
    [
      'a scraper without a secret',
      { metrics: { enabled: true, serviceMonitor: { enabled: true } } },
      /metrics.secret/,
    ],
  ])('%s is refused, and named', async (_, values, complaint) => {
    await expect(helm.template(values)).rejects.toThrow(complaint);
  });

  test('clients get at GraphQL from outside, and not at the admin API', async () => {
    const objects = await helm.template(EVERYTHING);
    const [rule] = find(objects, 'Ingress').spec.rules;
    const paths = rule.http.paths.map(({ path }: Rendered) => path);
    expect(paths).toEqual(['/v1/graphql', '/v1beta1/relay', '/api/rest']);
    expect(find(objects, 'HTTPRoute').spec.rules[0].matches.map((x: Rendered) => x.path.value)).toEqual(
      paths,
    );
  });

  test('the network lets in the operator and whom the values name', async () => {
    const [{ from }] = find(await helm.template(EVERYTHING), 'NetworkPolicy', 'pergola-engine').spec.ingress;
    expect(from).toEqual([
      {
        podSelector: { matchLabels: expect.objectContaining({ 'app.kubernetes.io/component': 'operator' }) },
      },
      { namespaceSelector: { matchLabels: { clients: 'yes' } } },
    ]);
  });

  test('the operator may read what it needs and write nothing but status, Events and its lease', async () => {
    const objects = await helm.template();
    const bound = [find(objects, 'ClusterRole', 'api-pergola-operator'), find(objects, 'Role')];
    const writing = bound
      .flatMap(({ rules }) => rules)
      .filter(({ verbs }) => verbs.some((verb: string) => !['get', 'list', 'watch'].includes(verb)));
    expect(writing).toEqual([
      { apiGroups: ['pergola.dev'], resources: ['*/status'], verbs: ['patch'] },
      { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        resourceNames: ['pergola-operator'],
        verbs: ['get', 'update'],
      },
    ]);
  });

  test('an operator of some namespaces has roles there and none of the cluster', async () => {
    const objects = await helm.template({ operator: { watchNamespaces: ['a', 'b'] } });
    expect(find(objects, 'ClusterRole')).toBeUndefined();
    expect(find(objects, 'ClusterRoleBinding')).toBeUndefined();
    const roles = objects.filter((x) => x.kind === 'Role' && x.metadata.name === 'pergola-operator');
    expect(roles.map((x) => x.metadata.namespace)).toEqual(['a', 'b']);
    expect(envOf(objects, 'pergola-operator')['PERGOLA_WATCH_NAMESPACES']).toBe('a,b');
  });

  test('resources themselves may be written where deletion may wait, and nowhere else', async () => {
    type Rule = { readonly resources: readonly string[]; readonly verbs: readonly string[] };
    const patch = ({ rules }: { readonly rules: readonly Rule[] }) =>
      rules.filter(({ verbs }) => verbs.includes('patch')).flatMap(({ resources }) => resources);
    const plurals = KINDS.map(({ plural }) => plural).filter((x) => x !== 'engines');
    const rightsWith = async (operator: object, kind: string, name = 'pergola-operator') =>
      patch(find(await helm.template({ operator }), kind, name)).toSorted();
    const always = ['*/status', 'events'];
    expect(await rightsWith({}, 'ClusterRole', 'api-pergola-operator')).toEqual(always);
    const waits = { waitingDeletion: true };
    expect(await rightsWith(waits, 'ClusterRole', 'api-pergola-operator')).toEqual(
      [...always, ...plurals].toSorted(),
    );
    const some = { ...waits, watchNamespaces: ['a'] };
    expect(await rightsWith(some, 'Role')).toEqual([...always, ...plurals].toSorted());
  });

  test('definitions come with the release, or with the chart of their own, and stay', async () => {
    const definitions = async (values: object, chart: string) =>
      (await helm.template(values, chart)).filter((x) => x.kind === 'CustomResourceDefinition');
    const together = await definitions({}, 'pergola');
    expect(together.map((x) => x.spec.names.kind).toSorted()).toEqual(KINDS.map((x) => x.kind).toSorted());
    for (const { metadata } of together) expect(metadata.annotations['helm.sh/resource-policy']).toBe('keep');
    expect(await definitions({ crds: { enabled: false } }, 'pergola')).toEqual([]);
    expect(await definitions({}, 'pergola-crds')).toEqual(together);
  });

  test('alerts and dashboard reach the cluster as they are written', async () => {
    const objects = await helm.template(EVERYTHING);
    const [{ rules }] = find(objects, 'PrometheusRule').spec.groups;
    expect(rules[0].annotations.summary).toContain('{{ $labels.source }}');
    const { data, metadata } = find(objects, 'ConfigMap', 'pergola-dashboard');
    expect(metadata.labels['grafana_dashboard']).toBe('1');
    expect(data['pergola.json']).toBe(readFileSync(join(CHARTS, 'pergola/files/dashboard.json'), 'utf8'));
  });

  test('metadata can send no variable that the chart gives to the engine', async () => {
    const secretOptions = { 'jwt-secret': { existingSecret: 'jwt', key: 'jwt' } };
    const { engine, ...rest } = EVERYTHING;
    const database = { existingSecret: 'database' };
    const parts = { ...engine, secretOptions, metadataDatabase: { existingSecret: 'metadata' } };
    for (const values of [{ ...rest, engine: parts }, { engine: { ...parts, database } }]) {
      const { spec } = find(await helm.template(values), 'Deployment', 'pergola-engine').spec.template;
      const names: string[] = spec.containers[0].env.map(({ name }: Rendered) => name);
      expect(names).toContain('ENGINE_GRAPHQL_JWT_SECRET');
      expect(names.filter((name) => !isReserved(name))).toEqual([]);
    }
  });

  test('the trial Postgres is where the engine looks', async () => {
    const objects = await helm.template({ postgres: { enabled: true } });
    expect(find(objects, 'Service', 'pergola-postgres').spec.ports[0].port).toBe(5432);
    expect(envOf(objects, 'pergola-engine')['ENGINE_GRAPHQL_DATABASE_URL']).toBe(
      'postgres://postgres:$(POSTGRES_PASSWORD)@pergola-postgres:5432/postgres',
    );
    const { volumes } = find(objects, 'StatefulSet').spec.template.spec;
    expect(volumes).toContainEqual({ name: 'data', emptyDir: {} });
  });
});

/** Returns the variables that have a literal value. */
function envOf(objects: readonly Rendered[], deployment: string): Record<string, string> {
  const { env } = find(objects, 'Deployment', deployment).spec.template.spec.containers[0];
  return Object.fromEntries(
    env.filter((x: Rendered) => x.value !== undefined).map((x: Rendered) => [x.name, x.value]),
  );
}

function podsOf(objects: readonly Rendered[]): { kind: string; spec: Rendered; template: string }[] {
  return objects
    .map((x) => ({
      kind: x.kind,
      spec: x.kind === 'Pod' ? x.spec : x.spec?.template?.spec,
      template: x.metadata.name,
    }))
    .filter(({ spec }) => spec !== undefined);
}
