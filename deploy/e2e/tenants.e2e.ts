/** Tenants: one engine, two namespaces that bind resources to it, and a person who may only `edit` one of them. Whatever that person
 *  applies, the resources of the other namespace stay Ready, their changes are applied, and the API answers as before.
 *  The steps are one story and run in order. Not here: the forms of hostile resources (operator/noninterference.test.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { apply, get, kubectl, type Printed, until, waitFor } from './cluster.ts';
import { Door } from './door.ts';
import { CHART, createNamespace, createPostgres, install, removeAll, uniqueName } from './release.ts';

/** Of the engine, its operator and its database. */
const home = uniqueName('pergola-tenants');
const [owners, intruders] = [`${home}-owners`, `${home}-intruders`];
const INTRUDER = 'mallory';
const door = new Door(home, 'service/pergola-engine');

const SEED = `
  create table author (id int primary key, name text, country text);
  create table book (id int primary key, author_id int references author);
  create table spare (id int primary key, note text);
  insert into author values (1, 'Ann', 'NO');`;

const ENGINE = `
apiVersion: pergola.dev/v1alpha1
kind: Engine
metadata: {name: main, namespace: ${home}}
spec:
  endpoint: {service: {name: pergola-engine, port: 8080}}
  adminSecretRef: {name: pergola-admin, key: admin-secret}
  allowedNamespaces: {from: All}
  grants:
    # Both may own whatever there is: what keeps them apart here is that nobody displaces what is there.
    - name: tenants
      namespaces: [${owners}, ${intruders}]
      sources: [default]
      tables: ["public.*"]
      references: ["public.*"]
      names: ["*"]
      roles: ["*"]
      webhookHosts: ["*"]
    - name: inherited-roles
      namespaces: [${owners}, ${intruders}]
      kinds: [InheritedRole]
      roles: ["*"]
`;

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

const on = (table: string) => `source: default\ntable: {schema: public, name: ${table}}`;
const reader = (columns: string) =>
  manifest(
    'TablePermission',
    'reader',
    owners,
    `${on('author')}\nrole: reader\nselect: {columns: [${columns}], filter: {}}`,
  );
const role = (namespace: string, name: string, roleSet: string) =>
  manifest('InheritedRole', name, namespace, `role: ${name}\nroleSet: [${roleSet}]`);

const GOOD = [
  manifest('Table', 'author', owners, on('author')),
  manifest('Table', 'book', owners, on('book')),
  reader('id, name'),
  manifest(
    'TablePermission',
    'auditor',
    owners,
    `${on('book')}\nrole: auditor\nselect: {columns: [id], filter: {}}`,
  ),
  role(owners, 'editor', 'reader, auditor'),
];
const GOOD_NAMES = [
  'table/author',
  'table/book',
  'tablepermission/reader',
  'tablepermission/auditor',
  'inheritedrole/editor',
];

/** What an editor of the other namespace applies, and what each says then. */
const HOSTILE: readonly (readonly [name: string, says: RegExp, manifest: string])[] = [
  ['inheritedrole/selfish', /found cycle/, role(intruders, 'selfish', 'selfish')],
  ['inheritedrole/reader', new RegExp(`InheritedRole ${owners}/editor`), role(intruders, 'reader', 'editor')],
  [
    'table/spare',
    /author/,
    manifest('Table', 'spare', intruders, `${on('spare')}\nconfiguration: {customName: author}`),
  ],
  [
    'tablepermission/theirs',
    new RegExp(`belongs to TablePermission ${owners}/reader`),
    manifest(
      'TablePermission',
      'theirs',
      intruders,
      `${on('author')}\nrole: reader\nselect: {columns: ["*"], filter: {}}`,
    ),
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
      'sdl: "type Query { author: String }"\nhandler: http://nowhere.invalid/',
    ),
  ],
];

const asIntruder = ['--as', INTRUDER, '--as-group', 'system:authenticated'] as const;

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

async function unready(namespace: string): Promise<readonly string[]> {
  const found = Object.entries(await readinessOf(namespace));
  return found
    .filter(([, said]) => !said.startsWith('True Applied'))
    .map(([name, said]) => `${name}: ${said}`);
}

beforeAll(async () => {
  await createNamespace(home);
  await createPostgres(home);
  for (const name of [owners, intruders]) {
    await apply(`{apiVersion: v1, kind: Namespace, metadata: {name: ${name}}}`);
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
  if (!process.env['E2E_KEEP']) {
    await kubectl('delete', 'namespace', owners, intruders, '--ignore-not-found', '--timeout=300s');
  }
  await removeAll(home);
});

test('resources of one namespace are served by an engine of another', async () => {
  await install(home, CHART);
  await door.admin('run_sql', { sql: SEED });
  await apply([ENGINE, ...GOOD].join('\n---\n'));
  await waitFor(owners, 'condition=Ready', ...GOOD_NAMES);
  expect(await door.graphql('{ author { name } }', 'editor')).toEqual({
    data: { author: [{ name: 'Ann' }] },
  });
});

test('an editor of the other namespace may write resources there, not here, and no bundle', async () => {
  const mayCreate = async (resource: string, namespace: string) =>
    (
      await kubectl('auth', 'can-i', 'create', resource, '-n', namespace, ...asIntruder).catch(() => 'no')
    ).trim();
  expect(await mayCreate('inheritedroles.pergola.dev', owners)).toBe('no');
  expect(await mayCreate('tables.pergola.dev', owners)).toBe('no');
  expect(await mayCreate('tables.pergola.dev', intruders)).toBe('yes');
  expect(await mayCreate('metadatabundles.pergola.dev', intruders)).toBe('no');
});

test('hostile resources are refused one by one, and each says why', async () => {
  for (const [name, , resource] of HOSTILE) {
    // Kinds that concern the whole engine are not for editors; somebody else in the namespace has applied them.
    const isForEditors = !name.startsWith('inheritedrole/');
    await apply(resource, ...(isForEditors ? asIntruder : []));
  }
  await until('every hostile resource says why it is refused', async () => {
    const said = await readinessOf(intruders);
    for (const [name, says] of HOSTILE)
      expect(said[name]).toMatch(new RegExp(`^False .*${says.source}`, 's'));
    return true;
  });
});

test('meanwhile everything of the other namespace is Ready, and what changes there is applied', async () => {
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

test('once the hostile resources are gone, nothing of them is left', async () => {
  await kubectl('delete', '-n', intruders, ...HOSTILE.map(([name]) => name));
  await until('the engine is without their objects', async () => {
    const exported = JSON.stringify(await door.metadata('export_metadata'));
    return !/selfish|spare|clash/.test(exported);
  });
  expect(await unready(owners)).toEqual([]);
});
