/** Tests the objects that helm renders from values. Not here: whether they work (deploy/e2e). */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { loadOptions } from '../../engine/config/load-options.ts';
import { isReserved } from '../../engine/metadata/variables.ts';
import { KINDS, type KindRow } from '../../operator/kinds.ts';
import { describeHelm, find, type Rendered } from '../../testing/helm.ts';
import { type Group, isGroup, type Node } from './value.ts';
import { VALUES } from './values.ts';

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

/** The paths that are null at once, by the title of the case: each group, and all single values together. */
const NULLS: readonly (readonly [string, readonly string[]])[] = [
  ...pathsOf(VALUES, isGroup).map((path) => [path, [path]] as const),
  ['every single value', pathsOf(VALUES, (node) => !isGroup(node)).filter((path) => !isKept(path))],
];

describeHelm('charts', (helm) => {
  test('helm lint passes', async () => {
    const said = await helm.run(['lint', '--strict', join(CHARTS, 'pergola'), join(CHARTS, 'pergola-crds')]);
    expect(said).toContain('2 chart(s) linted, 0 chart(s) failed');
    expect(said).not.toContain('is recommended');
  });

  test.each(['pergola', 'pergola-crds'])('%s has the icon of the documents, in itself', async (chart) => {
    const icon = readFileSync(join(CHARTS, '../docs/site/page/icon.svg'), 'utf8').trim();
    const said = await helm.run(['show', 'chart', join(CHARTS, chart)]);
    expect(said).toContain(`icon: data:image/svg+xml;base64,${Buffer.from(icon).toString('base64')}\n`);
  });

  test('the values of the guide about more than one machine reach the engine', async () => {
    const guide = readFileSync(join(CHARTS, '../docs/guides/more-than-one-machine.md'), 'utf8');
    const blocks = [...guide.matchAll(/^```yaml\n(engine:.*?)^```$/gms)].map(([, text = '']) => text);
    expect(blocks).toHaveLength(3);
    for (const block of blocks) {
      const [values] = loadAll(block) as [{ engine: { options: Record<string, unknown> } }];
      const engine = find(await helm.template(values), 'Deployment', 'pergola-engine');
      const { env } = engine.spec.template.spec.containers[0];
      for (const [option, value] of Object.entries(values.engine.options)) {
        const name = `ENGINE_GRAPHQL_${option.toUpperCase().replaceAll('-', '_')}`;
        expect(env).toContainEqual({ name, value: String(value) });
      }
    }
  });

  test('the values of the guide to production give replicas, policies, budgets and alerts', async () => {
    const guide = readFileSync(join(CHARTS, '../docs/guides/production.md'), 'utf8');
    const [, block = ''] = /^```yaml\n(# production.yaml.*?)^```$/ms.exec(guide) ?? [];
    const objects = await helm.template(loadAll(block)[0] as object);
    for (const part of ['engine', 'operator']) {
      expect(find(objects, 'Deployment', `pergola-${part}`).spec.replicas).toBe(2);
      expect(find(objects, 'PodDisruptionBudget', `pergola-${part}`)).toBeDefined();
    }
    expect(find(objects, 'NetworkPolicy', 'pergola-engine')).toBeDefined();
    expect(find(objects, 'PrometheusRule')).toBeDefined();
    expect(find(objects, 'ServiceMonitor', 'pergola-engine')).toBeDefined();
    const operator = JSON.stringify(find(objects, 'Deployment', 'pergola-operator'));
    expect(operator).toContain('production');
    const [engine] = find(objects, 'Deployment', 'pergola-engine').spec.template.spec.containers;
    expect(engine.env).toContainEqual({ name: 'ENGINE_GRAPHQL_PG_CONNECTIONS', value: '20' });
  });

  test('with every part enabled, each object is rendered once', async () => {
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

  test('editors of a namespace may write the kinds that concern single objects, administrators all kinds', async () => {
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

  test('by default no route, no secret and no object of another operator is rendered', async () => {
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

  test('every pod meets the pod security standard "restricted"', async () => {
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
        expect(container.resources.limits, container.name).toHaveProperty('memory');
      }
      if (template !== 'pergola-operator') expect(spec.automountServiceAccountToken, kind).toBe(false);
    }
  });

  test.each(['engine', 'operator'])(
    'the pods of the %s take what is given instead of the defaults',
    async (part) => {
      const given = {
        strategy: { type: 'Recreate' },
        startupProbe: { failureThreshold: 600 },
        livenessProbe: { timeoutSeconds: 9 },
        podSecurityContext: { fsGroup: 7, supplementalGroups: [8] },
        containerSecurityContext: { readOnlyRootFilesystem: false },
        serviceAccountName: 'ours',
        runtimeClassName: 'gvisor',
        dnsPolicy: 'None',
        dnsConfig: { nameservers: ['10.0.0.10'] },
        hostAliases: [{ ip: '10.0.0.11', hostnames: ['database'] }],
      };
      const objects = await helm.template({ [part]: given });
      const { spec } = find(objects, 'Deployment', `pergola-${part}`);
      expect(spec.strategy).toEqual({ type: 'Recreate' });
      const { startupProbe, livenessProbe, securityContext } = spec.template.spec.containers[0];
      expect(startupProbe).toMatchObject({ periodSeconds: 2, failureThreshold: 600 });
      expect(livenessProbe).toMatchObject({ httpGet: { path: '/livez' }, timeoutSeconds: 9 });
      expect(securityContext).toMatchObject({
        readOnlyRootFilesystem: false,
        allowPrivilegeEscalation: false,
      });
      expect(spec.template.spec).toMatchObject({
        securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 7, supplementalGroups: [8] },
        ...{ serviceAccountName: 'ours', runtimeClassName: 'gvisor', dnsPolicy: 'None' },
        ...{ dnsConfig: given.dnsConfig, hostAliases: given.hostAliases },
      });
      expect(find(objects, 'ServiceAccount', `pergola-${part}`)).toBeUndefined();
    },
  );

  test('a service account that is given has the rights of the operator', async () => {
    for (const watchNamespaces of [[], ['team']]) {
      const objects = await helm.template({ operator: { serviceAccountName: 'ours', watchNamespaces } });
      const bindings = objects.filter(({ kind }) => kind.endsWith('RoleBinding'));
      expect(bindings.length).toBe(2);
      for (const { subjects } of bindings) expect(subjects[0].name).toBe('ours');
    }
  });

  test.each([0, 1234])('every pod runs as the user %d', async (user) => {
    const pods = podsOf(
      await helm.template({ ...EVERYTHING, runAsUser: user, postgres: { enabled: true, runAsUser: user } }),
    );
    for (const { kind, spec } of pods) {
      const { runAsUser, runAsGroup, fsGroup } = spec.securityContext;
      // 0 leaves the user to the platform.
      expect([runAsUser, runAsGroup, fsGroup], kind).toEqual(Array(3).fill(user === 0 ? undefined : user));
    }
  });

  test('templates use neither random values nor the time nor the cluster', () => {
    const templates = readdirSync(join(CHARTS, 'pergola/templates')).filter((name) => name !== 'tests');
    for (const name of templates) {
      const text = readFileSync(join(CHARTS, 'pergola/templates', name), 'utf8');
      expect(text, name).not.toMatch(/\b(rand\w+|now|lookup|uuidv4|genCA|genSelfSignedCert)\b(?=[^}]*}})/);
    }
  });

  test('with autoscaling the Deployment has no number of replicas that GitOps would revert', async () => {
    const scaled = await helm.template({ engine: { replicas: 3, autoscaling: { enabled: true } } });
    expect(find(scaled, 'Deployment', 'pergola-engine').spec).not.toHaveProperty('replicas');
    expect(find(scaled, 'HorizontalPodAutoscaler').spec.scaleTargetRef.name).toBe('pergola-engine');
    const fixed = await helm.template({ engine: { replicas: 3 } });
    expect(find(fixed, 'Deployment', 'pergola-engine').spec.replicas).toBe(3);
  });

  test('a headless Service selects every ready pod, and a ServiceMonitor does not select it', async () => {
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

  test('each part with several replicas has a disruption budget', async () => {
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

  test('a pod that is stopped continues to serve for a while, and has time to finish requests', async () => {
    const objects = await helm.template();
    const { spec } = find(objects, 'Deployment', 'pergola-engine').spec.template;
    expect(envOf(objects, 'pergola-engine')).toMatchObject({ ENGINE_GRAPHQL_SHUTDOWN_DELAY: '5' });
    const { gracefulShutdownTimeout } = loadOptions([], DATABASE);
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(5 + gracefulShutdownTimeout);
  });

  test('options become variables that the engine reads', async () => {
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

  test('secret options refer to keys of secrets', async () => {
    const secretOptions = { 'jwt-secret': { existingSecret: 'identity', key: 'jwt' } };
    const objects = await helm.template({ engine: { secretOptions } });
    const { env } = find(objects, 'Deployment', 'pergola-engine').spec.template.spec.containers[0];
    const from = (name: string) => env.find((x: Rendered) => x.name === name)?.valueFrom?.secretKeyRef;
    expect(from('ENGINE_GRAPHQL_JWT_SECRET')).toEqual({ name: 'identity', key: 'jwt' });
    expect(from('ENGINE_GRAPHQL_DATABASE_URL')).toEqual({ name: 'pergola-database', key: 'url' });
  });

  test.each(['admin', 'console'] as const)(
    'both %s secrets are files that the engine follows, of which the second may be missing',
    async (kind) => {
      const mounted = async (secret: object) => {
        const values = kind === 'admin' ? { adminSecret: secret } : { console: { secret } };
        const objects = await helm.template({ engine: values });
        const { spec } = find(objects, 'Deployment', 'pergola-engine').spec.template;
        const isOfKind = ({ name }: Rendered) => name === `${kind}-secrets`;
        const { projected } = spec.volumes.find(isOfKind);
        const { mountPath } = spec.containers[0].volumeMounts.find(isOfKind);
        const options = loadOptions([], { ...envOf(objects, 'pergola-engine'), ...DATABASE });
        expect(options[`${kind}SecretPath`]).toBe(mountPath);
        return projected.sources.map(({ secret: { name, items, optional = false } }: Rendered) => [
          name,
          items[0].key,
          optional,
        ]);
      };
      const existingSecret = `pergola-${kind}`;
      expect(await mounted({ existingSecret })).toEqual([
        [existingSecret, `${kind}-secret`, false],
        [existingSecret, `secondary-${kind}-secret`, true],
      ]);
      expect(await mounted({ existingSecret: 'other', key: 'current', secondaryKey: 'previous' })).toEqual([
        ['other', 'current', false],
        ['other', 'previous', true],
      ]);
      expect(await mounted({ existingSecret, secondaryKey: '' })).toEqual([
        [existingSecret, `${kind}-secret`, false],
      ]);
    },
  );

  test('without a secret of the console there is none', async () => {
    const objects = await helm.template({});
    expect(JSON.stringify(objects)).not.toContain('console-secret');
  });

  test.each(NULLS)('%s may be null', async (_, paths) => {
    const enabled = { ...EVERYTHING, crds: { enabled: false } };
    const values = paths.reduce((all, path) => withNull(all, path.split('.')), enabled as Tree);
    if (paths.includes('metrics.secret')) {
      return expect(helm.template(values)).rejects.toThrow(/needs metrics.secret/);
    }
    const objects = await helm.template(values);
    for (const { kind, metadata } of objects) expect(metadata.name, kind).toMatch(/^[a-z0-9-]{1,63}$/);
    expect(JSON.stringify(objects)).not.toMatch(/<nil>|<no value>|%!/);
  });

  test('every value may be null at once: no part is installed', async () => {
    const nothing = Object.fromEntries(Object.keys(VALUES.values).map((name) => [name, null]));
    expect(await helm.template(nothing)).toEqual([]);
  });

  test('a part that is null is off, a map is empty, and a value that cannot be empty keeps its default', async () => {
    const without = await helm.template({ operator: null, metrics: null });
    const components = new Set(without.map((x) => x.metadata.labels?.['app.kubernetes.io/component']));
    expect(components).not.toContain('operator');
    expect(components).toContain('engine');
    const { spec } = find(
      await helm.template({
        engine: { resources: null, replicas: null, database: null, topologySpread: null },
      }),
      'Deployment',
      'pergola-engine',
    );
    expect(spec.replicas).toBe(1);
    expect(spec.template.spec).not.toHaveProperty('topologySpreadConstraints');
    const [{ resources, env }] = spec.template.spec.containers;
    expect(resources).toEqual({});
    expect(JSON.stringify(env)).toContain('"name":"pergola-database"');
  });

  test('an option that is null is not set', async () => {
    const values = { engine: { options: { 'pg-connections': null, 'log-level': 'warn' } } };
    const env = envOf(await helm.template(values), 'pergola-engine');
    expect(env).not.toHaveProperty('ENGINE_GRAPHQL_PG_CONNECTIONS');
    expect(env['ENGINE_GRAPHQL_LOG_LEVEL']).toBe('warn');
  });

  test.each([
    ['a release name', (name: string) => [name, '{}'] as const],
    ['a full name', (name: string) => ['r', JSON.stringify({ fullnameOverride: name })] as const],
  ])(
    '%s of 53 characters gives names that Kubernetes accepts, and other names than its like',
    async (_, of) => {
      const namesOf = async (name: string) => {
        const [release, values] = of(name);
        const all = JSON.stringify({ ...EVERYTHING, crds: { enabled: false }, ...JSON.parse(values) });
        const text = await helm.run(
          ['template', release, join(CHARTS, 'pergola'), '-n', 'api', '-f', '-'],
          all,
        );
        const objects = loadAll(text).filter(Boolean) as Rendered[];
        for (const { kind, metadata } of objects) {
          // The API server adds a digest of 11 characters to the name of a StatefulSet for a label of its pods.
          const most = kind === 'StatefulSet' ? 52 : 63;
          const isRole = kind.startsWith('ClusterRole');
          if (!isRole) expect(metadata.name.length, `${kind} ${metadata.name}`).toBeLessThanOrEqual(most);
          expect(metadata.name, kind).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
          for (const label of Object.values<string>(metadata.labels ?? {}))
            expect(label.length).toBeLessThanOrEqual(63);
        }
        return objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      };
      const long = 'a'.repeat(35).concat('-bcdefghijklmnopq');
      const [first, second] = await Promise.all([namesOf(`${long}1`), namesOf(`${long}2`)]);
      const shared = first!.filter((name) => second!.includes(name) && !name.endsWith('-extra'));
      expect(shared).toEqual([]);
    },
  );

  test.each([
    ['an unknown value', { engine: { replica: 2 } }, /replica/],
    ['an unknown option', { engine: { options: { 'pg-connection': 20 } } }, /pg-connection/],
    ['a number outside its bounds', { engine: { options: { 'pg-connections': 0 } } }, /pg-connections/],
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
  ])('%s is refused, and the message names it', async (_, values, complaint) => {
    await expect(helm.template(values)).rejects.toThrow(complaint);
  });

  test('routes from outside lead to GraphQL and not to the admin API', async () => {
    const objects = await helm.template(EVERYTHING);
    const [rule] = find(objects, 'Ingress').spec.rules;
    const paths = rule.http.paths.map(({ path }: Rendered) => path);
    expect(paths).toEqual(['/v1/graphql', '/v1beta1/relay', '/api/rest']);
    expect(find(objects, 'HTTPRoute').spec.rules[0].matches.map((x: Rendered) => x.path.value)).toEqual(
      paths,
    );
  });

  test('the network policy admits the operator and the peers in the values', async () => {
    const [{ from }] = find(await helm.template(EVERYTHING), 'NetworkPolicy', 'pergola-engine').spec.ingress;
    expect(from).toEqual([
      {
        podSelector: { matchLabels: expect.objectContaining({ 'app.kubernetes.io/component': 'operator' }) },
      },
      { namespaceSelector: { matchLabels: { clients: 'yes' } } },
    ]);
  });

  test('the operator may write only status, Events and its lease', async () => {
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
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    ]);
  });

  test('the operator creates the key of named values that the engine mounts, unless a secret is named', async () => {
    const seen = async (valuesKey: object, operator: object = {}) => {
      const objects = await helm.template({ engine: { valuesKey }, operator });
      const { rules = [] } = find(objects, 'Role', 'pergola-operator-lease') ?? {};
      const { volumes } = find(objects, 'Deployment', 'pergola-engine').spec.template.spec;
      const mounted = volumes.find(({ name }: { name: string }) => name === 'values-key').secret;
      const hasOperator = find(objects, 'Deployment', 'pergola-operator') !== undefined;
      return {
        mounted: [mounted.secretName, mounted.items[0].key],
        created: hasOperator
          ? envOf(objects, 'pergola-operator')['PERGOLA_VALUES_KEY_SECRET']
          : 'no operator',
        mayCreate: rules.some(({ resources }: { resources: string[] }) => resources.includes('secrets')),
      };
    };
    const made = {
      mounted: ['pergola-values-key', 'values-key'],
      created: 'pergola-values-key',
      mayCreate: true,
    };
    expect(await seen({})).toEqual(made);
    // The operator chooses the key of the secret that it creates.
    expect(await seen({ key: 'mine' })).toEqual(made);
    expect(await seen({ existingSecret: 'vault', key: 'mine' })).toEqual({
      mounted: ['vault', 'mine'],
      created: undefined,
      mayCreate: false,
    });
    expect(await seen({}, { enabled: false })).toEqual({ ...made, created: 'no operator', mayCreate: false });
  });

  test('an operator that watches some namespaces has roles there and no cluster role', async () => {
    const objects = await helm.template({ operator: { watchNamespaces: ['a', 'b'] } });
    expect(find(objects, 'ClusterRole')).toBeUndefined();
    expect(find(objects, 'ClusterRoleBinding')).toBeUndefined();
    const roles = objects.filter((x) => x.kind === 'Role' && x.metadata.name === 'pergola-operator');
    expect(roles.map((x) => x.metadata.namespace)).toEqual(['a', 'b']);
    expect(envOf(objects, 'pergola-operator')['PERGOLA_WATCH_NAMESPACES']).toBe('a,b');
  });

  test('the operator may patch resources only with waitingDeletion', async () => {
    type Rule = { readonly resources: readonly string[]; readonly verbs: readonly string[] };
    const patch = ({ rules }: { readonly rules: readonly Rule[] }) =>
      rules.filter(({ verbs }) => verbs.includes('patch')).flatMap(({ resources }) => resources);
    const plurals = KINDS.map(({ plural }) => plural);
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

  test('definitions are part of the release or of their own chart, and are kept when it is uninstalled', async () => {
    const definitions = async (values: object, chart: string) =>
      (await helm.template(values, chart)).filter((x) => x.kind === 'CustomResourceDefinition');
    const together = await definitions({}, 'pergola');
    expect(together.map((x) => x.spec.names.kind).toSorted()).toEqual(KINDS.map((x) => x.kind).toSorted());
    for (const { metadata } of together) expect(metadata.annotations['helm.sh/resource-policy']).toBe('keep');
    expect(await definitions({ crds: { enabled: false } }, 'pergola')).toEqual([]);
    expect(await definitions({}, 'pergola-crds')).toEqual(together);
  });

  test('templates in alerts and the dashboard are not rendered by helm', async () => {
    const objects = await helm.template(EVERYTHING);
    const [{ rules }] = find(objects, 'PrometheusRule').spec.groups;
    expect(rules[0].annotations.summary).toContain('{{ $labels.source }}');
    const { data, metadata } = find(objects, 'ConfigMap', 'pergola-dashboard');
    expect(metadata.labels['grafana_dashboard']).toBe('1');
    expect(data['pergola.json']).toBe(readFileSync(join(CHARTS, 'pergola/files/dashboard.json'), 'utf8'));
  });

  test('every variable that the chart gives to the engine is reserved, so metadata cannot send it', async () => {
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

  test('the engine connects to the trial Postgres', async () => {
    const objects = await helm.template({ postgres: { enabled: true } });
    expect(find(objects, 'Service', 'pergola-postgres').spec.ports[0].port).toBe(5432);
    expect(envOf(objects, 'pergola-engine')['ENGINE_GRAPHQL_DATABASE_URL']).toBe(
      'postgres://postgres:$(POSTGRES_PASSWORD)@pergola-postgres:5432/postgres',
    );
    const { volumes } = find(objects, 'StatefulSet').spec.template.spec;
    expect(volumes).toContainEqual({ name: 'data', emptyDir: {} });
  });
});

type Tree = Readonly<Record<string, unknown>>;

/** True for a switch, which stays on to keep its part, and for a value without which an enabled part is refused. */
function isKept(path: string): boolean {
  return (
    path.endsWith('.enabled') ||
    /^engine\.(ingress\.hosts|httpRoute\.parentRefs)$|^metrics\.secret\./.test(path)
  );
}

/** Returns the paths of the groups and values of the chart that `isWanted` selects. */
function pathsOf(
  { values }: Group,
  isWanted: (node: Node) => boolean,
  above: readonly string[] = [],
): readonly string[] {
  return Object.entries(values).flatMap(([name, node]) => {
    const path = [...above, name];
    return [
      ...(isWanted(node) ? [path.join('.')] : []),
      ...(isGroup(node) ? pathsOf(node, isWanted, path) : []),
    ];
  });
}

/** Returns the values with null at the path. */
function withNull(values: Tree, [name, ...rest]: readonly string[]): Tree {
  const inner = (values[name!] ?? {}) as Tree;
  return { ...values, [name!]: rest.length === 0 ? null : withNull(inner, rest) };
}

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
