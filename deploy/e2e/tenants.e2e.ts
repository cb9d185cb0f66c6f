/** Tests tenants: one engine, two namespaces that bind resources to it, and a user who may only `edit` one of them. Whatever that user
 *  applies, the resources of the other namespace stay Ready, changes to them are applied, and the API responds as before. A namespace
 *  owns nothing without a grant, takes nothing over by waiting, and keeps nothing after it is revoked.
 *  The steps are one story and run in order. Not here: every case (operator/end-to-end/tenants.test.ts), the forms of hostile resources
 *  (operator/end-to-end/noninterference.test.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apply, get, kubectl, type Printed, until, waitFor } from './cluster.ts';
import { Door } from './door.ts';
import { CHART, createNamespace, createPostgres, install, removeAll, uniqueName } from './release.ts';

/** The namespace of the engine, its operator and its database. */
const home = uniqueName('pergola-tenants');
const [owners, intruders] = [`${home}-owners`, `${home}-intruders`];
const INTRUDER = 'mallory';
const door = new Door(home, 'service/pergola-engine');

const SEED = `
  create table author (id int primary key, name text, country text);
  create table book (id int primary key, author_id int references author);
  create table spare (id int primary key, note text);
  insert into author values (1, 'Ann', 'NO');`;

/** The limit of the prune guard is low: the owners have nine objects. */
const ENGINE = `
apiVersion: pergola.dev/v1alpha1
kind: Engine
metadata: {name: main, namespace: ${home}}
spec:
  endpoint: {service: {name: pergola-engine, port: 8080}}
  adminSecretRef: {name: pergola-admin, key: admin-secret}
  allowedNamespaces: {from: Selector, selector: {matchLabels: {tenants: ${home}}}}
  policies: {pruneGuard: {maxObjects: 3, maxPercent: 30}}
`;

/** Each namespace may own everything, so that only the rules between resources keep them apart. */
const grantsOf = (...namespaces: readonly string[]) => [
  {
    name: 'tenants',
    namespaces,
    sources: ['default'],
    tables: ['public.*'],
    references: ['public.*'],
    names: ['*'],
    roles: ['*'],
    webhookHosts: ['*'],
  },
  { name: 'whole-engine', namespaces, kinds: ['InheritedRole', 'MetadataBundle'], roles: ['*'] },
];

function manifest(kind: string, name: string, namespace: string, spec: string): string {
  return `
apiVersion: pergola.dev/v1alpha1
kind: ${kind}
metadata: {name: ${name}, namespace: ${namespace}}
spec:
  engineRef: {name: main, namespace: ${home}}
${spec.replaceAll(/^/gm, '  ')}
`;
}

const on = (table: string) => `source: default\ntable: ${table}`;
const permission = (namespace: string, role: string, table: string, columns: string) =>
  manifest(
    'TablePermission',
    role,
    namespace,
    `${on(table)}\nrole: ${role}\nselect: {columns: [${columns}], filter: {}}`,
  );
const reader = (columns: string) => permission(owners, 'reader', 'author', columns);
const role = (namespace: string, name: string, roles: string) =>
  manifest('InheritedRole', name, namespace, `role: ${name}\nroles: [${roles}]`);

const book = (roles: readonly string[]) => {
  const permissions = roles.map((name) => ({ role: name, select: { columns: ['id'], filter: {} } }));
  return manifest('Table', 'book', owners, `${on('book')}\npermissions: ${JSON.stringify(permissions)}`);
};

const GOOD = [
  manifest('Table', 'author', owners, on('author')),
  book(['clerk', 'lender', 'porter', 'guard']),
  reader('id, name'),
  permission(owners, 'auditor', 'book', 'id'),
  role(owners, 'editor', 'reader, auditor'),
];
const GOOD_NAMES = [
  'table/author',
  'table/book',
  'tablepermission/reader',
  'tablepermission/auditor',
  'inheritedrole/editor',
];

const TELEMETRY = manifest(
  'EngineSettings',
  'mine',
  intruders,
  'openTelemetry: {status: Enabled, traces: {value: "http://mine:4318/v1/traces"}}',
);

/** A permission with the owners' name and more rights, which waits because the name is taken. */
const SQUATTER = permission(intruders, 'reader', 'author', '"*"');

/** The resources that the intruder applies in its namespace, each with its expected reason. */
const HOSTILE: readonly (readonly [name: string, says: RegExp, manifest: string])[] = [
  ['inheritedrole/selfish', /found cycle/, role(intruders, 'selfish', 'selfish')],
  ['inheritedrole/reader', new RegExp(`InheritedRole ${owners}/editor`), role(intruders, 'reader', 'editor')],
  [
    'metadatabundle/mislabeled',
    /the definition is that of .*, not of key/,
    manifest(
      'MetadataBundle',
      'mislabeled',
      intruders,
      'objects: [{key: inherited_role/clash, definition: {role_name: editor, role_set: [nobody]}}]',
    ),
  ],
  [
    'table/spare',
    /author/,
    manifest('Table', 'spare', intruders, `${on('spare')}\nconfiguration: {customName: author}`),
  ],
  [
    'customtypes/clash',
    /author/,
    manifest('CustomTypes', 'clash', intruders, 'sdl: "type author { id: Int }"'),
  ],
  [
    'action/clash',
    /author/,
    manifest(
      'Action',
      'clash',
      intruders,
      'sdl: "type Query { author: String }"\nhandler: {value: "http://nowhere.invalid/"}',
    ),
  ],
];
/** Kinds that concern the whole engine are not for editors; an administrator of the namespace applies them. */
const FOR_EDITORS = HOSTILE.filter(([name]) => !/^(inheritedrole|metadatabundle)\//.test(name));
const FOR_ADMINISTRATORS = HOSTILE.filter((one) => !FOR_EDITORS.includes(one));
const joined = (rows: typeof HOSTILE) => rows.map(([, , resource]) => resource).join('\n---\n');

const asIntruder = ['--as', INTRUDER, '--as-group', 'system:authenticated'] as const;
const changeEngine = (spec: object) =>
  kubectl('-n', home, 'patch', 'engine', 'main', '--type=merge', '-p', JSON.stringify({ spec }));
const sees = async (column: string, role = 'reader') =>
  (await door.graphql(`{ author { ${column} } }`, role)).errors === undefined;
const served = async () => JSON.stringify(await door.metadata('export_metadata'));

async function readinessOf(namespace: string): Promise<Readonly<Record<string, string>>> {
  const { items } = await get('pergola', '-n', namespace);
  return Object.fromEntries(
    items.map(({ kind, metadata, status }: Printed) => {
      const ready = status?.conditions?.find(({ type }: Printed) => type === 'Ready');
      return [
        `${kind.toLowerCase()}/${metadata.name}`,
        `${ready?.status} ${ready?.reason}: ${ready?.message}`,
      ];
    }),
  );
}

async function says(name: string, text: string, namespace = intruders): Promise<void> {
  await until(`${name} of ${namespace} says ${text}`, async () => {
    const said = (await readinessOf(namespace))[name] ?? '';
    if (!said.includes(text)) throw new Error(said);
    return true;
  });
}

async function unready(namespace: string): Promise<readonly string[]> {
  const found = Object.entries(await readinessOf(namespace));
  return found
    .filter(([, said]) => !said.startsWith('True Applied'))
    .map(([name, said]) => `${name}: ${said}`);
}

type NamespaceStatus = { readonly state?: string; readonly objects?: number; readonly pruneHash?: string };

/** The entry of a namespace in the status of the Engine. */
async function stateOf(namespace: string): Promise<NamespaceStatus> {
  const { status } = await get('engine', 'main', '-n', home);
  return status.namespaces?.find(({ name }: Printed) => name === namespace) ?? {};
}

beforeAll(async () => {
  await createNamespace(home);
  await createPostgres(home);
  for (const name of [owners, intruders]) {
    await apply(`{apiVersion: v1, kind: Namespace, metadata: {name: ${name}, labels: {tenants: ${home}}}}`);
  }
  await apply(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: ${INTRUDER}, namespace: ${intruders}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{kind: User, name: ${INTRUDER}, apiGroup: rbac.authorization.k8s.io}]
`);
});

afterAll(async () => {
  door.close();
  await removeAll(home, owners, intruders);
});

test('an engine serves resources of another namespace', async () => {
  // By default, deletions soon after the operator's start wait for half a minute.
  await install(home, CHART, '--set', 'operator.options.prune-delay-seconds=1');
  await door.admin('run_sql', { sql: SEED });
  await apply([ENGINE, ...GOOD].join('\n---\n'));
  await changeEngine({ grants: grantsOf(owners) });
  await waitFor(owners, 'condition=Ready', ...GOOD_NAMES);
  expect(await door.graphql('{ author { name } }', 'editor')).toEqual({
    data: { author: [{ name: 'Ann' }] },
  });
});

test('an editor of the other namespace may write resources only there, and no kind that concerns the whole engine', async () => {
  const mayCreate = async (resource: string, namespace: string) =>
    (
      await kubectl('auth', 'can-i', 'create', resource, '-n', namespace, ...asIntruder).catch(() => 'no')
    ).trim();
  expect(await mayCreate('tables.pergola.dev', owners)).toBe('no');
  expect(await mayCreate('tables.pergola.dev', intruders)).toBe('yes');
  expect(await mayCreate('metadatabundles.pergola.dev', intruders)).toBe('no');
  await expect(apply(TELEMETRY, ...asIntruder)).rejects.toThrow('forbidden');
  await expect(apply(reader('"*"'), ...asIntruder)).rejects.toThrow('forbidden');
});

test('a namespace without a grant owns nothing, whoever applied the resources', async () => {
  await apply(SQUATTER, ...asIntruder);
  await apply(TELEMETRY);
  await says('tablepermission/reader', `{name: ${intruders}, namespaces: [${intruders}]`);
  await says('enginesettings/mine', 'False NotPermitted');
  expect(await served()).not.toContain('http://mine');
  expect([await sees('id'), await sees('country')]).toEqual([true, false]);
});

test('with a grant, each hostile resource is rejected with its own reason', async () => {
  await changeEngine({ grants: grantsOf(owners, intruders) });
  await apply(joined(FOR_EDITORS), ...asIntruder);
  await apply(joined(FOR_ADMINISTRATORS));
  await until('every hostile resource says why it is refused', async () => {
    const said = await readinessOf(intruders);
    for (const [name, reason] of HOSTILE)
      expect(said[name]).toMatch(new RegExp(`^False .*${reason.source}`, 's'));
    return true;
  });
});

test('meanwhile the resources of the other namespace are Ready, and changes to them are applied', async () => {
  expect(await unready(owners)).toEqual([]);
  const before = Date.now();
  await apply(reader('id, name, country'));
  await until('the change is served', async () => {
    const answer = await door.graphql('{ author { country } }', 'reader');
    return JSON.stringify(answer) === '{"data":{"author":[{"country":"NO"}]}}';
  });
  expect(Date.now() - before).toBeLessThan(60_000);
  await waitFor(owners, 'condition=Ready', ...GOOD_NAMES);
  expect(await unready(owners)).toEqual([]);
  expect(await door.graphql('{ author { name } }', 'editor')).toEqual({
    data: { author: [{ name: 'Ann' }] },
  });
});

test('a waiting permission does not take over from one that is deleted and applied again', async () => {
  await says('tablepermission/reader', `belongs to TablePermission ${owners}/reader`);
  await kubectl('-n', owners, 'delete', 'tablepermission', 'reader');
  await says('tablepermission/reader', `is reserved for namespace ${owners}`);
  expect(await sees('country')).toBe(false);
  await apply(reader('id, name'));
  await waitFor(owners, 'condition=Ready', ...GOOD_NAMES);
  expect([await sees('id'), await sees('country')]).toEqual([true, false]);
  await says('enginesettings/mine', 'False NotPermitted');
  await kubectl('-n', intruders, 'delete', 'enginesettings', 'mine');
});

test('once the hostile resources are deleted, none of their objects is left', async () => {
  const names = HOSTILE.map(([name]) => name);
  await kubectl('delete', '-n', intruders, 'tablepermission/reader', ...names);
  await until('the engine is without their objects', async () => !/selfish|spare|clash/.test(await served()));
  expect(await unready(owners)).toEqual([]);
});

test('a revoked namespace keeps its objects for a stated time', async () => {
  await apply(permission(intruders, 'guest', 'author', 'id'), ...asIntruder);
  await waitFor(intruders, 'condition=Ready', 'tablepermission/guest');
  expect(await sees('id', 'guest')).toBe(true);
  await kubectl('label', 'namespace', intruders, 'tenants-');
  await says('tablepermission/guest', 'will be removed from the engine at');
  expect((await stateOf(intruders)).state).toBe('Revoked');
  expect(await sees('id', 'guest')).toBe(true);
});

test('then its objects are removed, although a mass deletion in another namespace waits for confirmation', async () => {
  await apply(book([]));
  await says('table/book', 'False PruneHeld', owners);
  await kubectl('-n', owners, 'delete', 'tablepermission/reader');
  await changeEngine({ policies: { revocationGraceMinutes: 0 } });
  await until('the objects of the revoked namespace are removed', async () => !(await sees('id', 'guest')));
  await until('five deletions are held', async () => (await stateOf(owners)).objects === 5);
  const { state, pruneHash } = await stateOf(owners);
  expect(state).toBe('PruneHeld');
  expect((await door.graphql('{ book { id } }', 'clerk')).errors).toBeUndefined();
  expect(await sees('id')).toBe(true);
  await kubectl('-n', home, 'annotate', 'engine', 'main', `pergola.dev/confirm-prune=${pruneHash}`);
  await until('the confirmed deletions are done', async () => !(await sees('id')));
  expect((await door.graphql('{ book { id } }', 'clerk')).errors).toBeDefined();
});
