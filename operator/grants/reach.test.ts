/** Tests what the author of each kind can reach from another namespace: nothing without a grant, and with one no more than it covers. The objects
 *  are those of deploy/examples/every-kind, and the table is that of docs/guides/security.md.
 *  Not here: single objects (grants.test.ts), revocation (end-to-end/tenants.test.ts). */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MetadataObject } from '@pergola/engine/metadata';
import { describe, expect, test } from 'vitest';
import { expanded, REACH, type ReachingField, reachingFields } from '../../docs/pages/reach.ts';
import { type Example, examples } from '../../testing/examples.ts';
import { desire } from '../decide/desired.ts';
import { KINDS, type KindRow, kindOf } from '../kinds.ts';
import { ownReferencesOf, referencesOfResource } from '../kubernetes/engine-binding.ts';
import { OPTIONS, resource, snapshotOf } from '../testing/resources.ts';
import { type Granted, objectionTo } from './grants.ts';
import { DIMENSIONS, type Dimension, type Needs, needsOf } from './needs.ts';

const ROOT = join(import.meta.dirname, '../..');

const GUIDE = readFileSync(join(import.meta.dirname, '../../docs/guides/security.md'), 'utf8');

/** The fields of a grant that the guide lists for a kind. */
const IN_GUIDE = new Map(
  [...GUIDE.matchAll(/^\| (\w+) \| .+ \| ([^|]*) \| (?:admin|edit) \|$/gm)].map(([, kind, fields]) => [
    kind,
    [...fields!.matchAll(/`(\w+)`/g)].map(([, field]) => field as Dimension),
  ]),
);

/** The kinds whose resources own objects. */
const ROWS: readonly KindRow[] = (KINDS as readonly KindRow[]).filter(
  ({ purpose }) => purpose !== 'engine' && purpose !== 'test',
);

describe.each(ROWS.map(({ kind, concerns }) => [kind, concerns] as const))('%s', (kind, concerns) => {
  const objects = examples()
    .filter((example) => example.kind === kind)
    .flatMap((example) => objectsOf(example));
  const needed = DIMENSIONS.filter((dimension) => needsIn(dimension).length > 0);

  function needsIn(dimension: Dimension): readonly string[] {
    const kinds = dimension === 'kinds' && concerns === 'engine' ? [kind] : [];
    return [...new Set([...kinds, ...objects.flatMap((object) => needsOf(object)[dimension])])];
  }

  /** A grant with every need of the examples, except those of one field. */
  const grantWithout = (left?: Dimension) => ({
    name: 'team',
    namespaces: ['team'],
    ...Object.fromEntries(needed.filter((field) => field !== left).map((field) => [field, needsIn(field)])),
  });

  test('the guide lists the fields of a grant that its objects need', () => {
    expect(objects.length).toBeGreaterThan(0);
    const listed = IN_GUIDE.get(kind) ?? [];
    expect(listed).toEqual(expect.arrayContaining(needed));
    // Fields that objects of other forms need: registries, literal URLs, variables in them, conditions on other tables.
    const others = listed.filter((field) => !needed.includes(field));
    expect([
      'variables',
      'webhookHosts',
      'clientHeaders',
      'databaseHosts',
      'registries',
      'references',
    ]).toEqual(expect.arrayContaining(others));
  });

  test('another namespace owns nothing without a grant', () => {
    for (const object of objects) {
      expect(objectionTo(granted(), kind, [object]), object.key).toContain('does not let namespace team');
    }
  });

  test('a grant of exactly its needs is enough, and without one of them it is not', () => {
    expect(objectionTo(granted(grantWithout()), kind, objects)).toBeUndefined();
    for (const dimension of needed) {
      // A table of the grant may be referred to as well.
      if (
        dimension === 'references' &&
        needsIn('references').every((table) => needsIn('tables').includes(table))
      )
        continue;
      const objection = objectionTo(granted(grantWithout(dimension)), kind, objects);
      expect(objection, dimension).toMatch(new RegExp(`would also need .*${dimension}: `));
    }
  });

  test('a grant for other kinds does not cover it', () => {
    const other = { ...grantWithout(), kinds: ['Nothing'] };
    expect(objectionTo(granted(other), kind, objects)).toContain(`kinds: [${kind}`);
  });

  test('the namespace of the Engine needs a grant only for environment variables', () => {
    const atHome = (...grants: Granted['grants']) =>
      objectionTo({ ...granted(...grants), isHome: true }, kind, objects);
    const variables = needsIn('variables');
    expect(atHome() === undefined).toBe(variables.length === 0);
    expect(atHome({ name: 'own', variables })).toBeUndefined();
  });
});

/** The fields of the table, as `KIND PATH`, with their row. */
const DECIDED = new Map(
  REACH.flatMap((row) => row.fields.flatMap(expanded).map((field) => [field, row] as const)),
);

describe('fields that name an address, a variable, a file, a Secret or a ConfigMap', () => {
  const found = reachingFields();
  const nameOf = ({ kind, path }: Pick<ReachingField, 'kind' | 'path'>) => `${kind} ${path}`;

  test('each is decided in a row of REACH, and each row is about fields that exist', () => {
    expect(found.map(nameOf).filter((name) => !DECIDED.has(name))).toEqual([]);
    expect([...DECIDED.keys()].filter((name) => !found.map(nameOf).includes(name))).toEqual([]);
  });

  test('every row names tests that exist', () => {
    const missing = REACH.flatMap(({ tests }) => tests).filter((file) => !existsSync(join(ROOT, file)));
    expect(missing).toEqual([]);
  });

  test('every row with an address has an attack that gives refused ones', () => {
    const addressed = REACH.filter(({ address, fields }) => address || fields[0]!.includes('endpoint'));
    const attacked = REACH.filter(({ tests }) => tests.some((file) => file.startsWith('testing/attack/')));
    expect(attacked).toEqual(addressed);
  });

  test.each(found.filter(({ path }) => path.endsWith('Ref')))(
    '$kind $path refers to an object of its own namespace',
    ({ kind, path, schema }) => {
      expect(Object.keys((schema as { properties?: object }).properties ?? {})).not.toContain('namespace');
      const spec = withField({}, path, { name: 'probe', key: 'key' });
      const references = referencesOfResource(resource(kind, 'a', spec, { namespace: 'team' }));
      const own = ownReferencesOf(resource('Engine', 'a', { endpoint: {}, ...spec }, { namespace: 'team' }));
      const all = kind === 'Engine' ? own : references;
      expect(all.length).toBeGreaterThan(0);
      expect(all.every(({ namespace, name }) => namespace === 'team' && name === 'probe')).toBe(true);
    },
  );

  const values = found.filter(
    ({ schema }) => 'env' in ((schema as { properties?: object }).properties ?? {}),
  );

  test.each(values)('$kind $path needs a grant for every form of a value', ({ kind, path }) => {
    const { address } = DECIDED.get(nameOf({ kind, path }))!;
    const needs = (value: object) => needsWith(kind, path, value);
    expect(needs({ env: 'PROBE' }).variables).toContain('PROBE');
    expect(needs({ file: '/probe' }).variables).toContain('file:/probe');
    // The Secret is one of its own namespace. Its author chooses the text, and so the host.
    const secret = needs({ secretKeyRef: { name: 'probe', key: 'key' } });
    expect(secret.variables.filter((name) => name.startsWith('value:'))).toEqual(
      // A field without a form for named values has the template of one.
      expect.arrayContaining([expect.stringMatching(/^value:team\//)]),
    );
    if (address === undefined) return;
    expect(secret[address]).toContain('*');
    for (const form of [{ value: PROBES[address] }, { configMapKeyRef: { name: 'probe', key: address } }]) {
      expect(needs(form)[address]).toContain('probe.example');
    }
  });

  const texts = found.filter((field) => DECIDED.get(nameOf(field))?.address && !values.includes(field));

  test.each(texts)('$kind $path needs a grant for its host', ({ kind, path }) => {
    const { address } = DECIDED.get(nameOf({ kind, path }))!;
    expect(needsWith(kind, path, TEXTS[address!])[address!]).toContain('probe.example');
  });

  test.each(found.filter(({ path }) => path.endsWith('forwardClientHeaders')))(
    '$kind $path needs a grant for what receives the headers of clients',
    ({ kind, path }) => {
      const url = path.replace('forwardClientHeaders', kind === 'Action' ? 'handler' : 'url');
      const at = (value: object) => needsWith(kind, path, true, [url, value]).clientHeaders;
      expect(at({ value: PROBES['webhookHosts'] })).toContain('probe.example');
      expect(at({ env: 'PROBE' })).toContain('PROBE');
      expect(at({ file: '/probe' })).toContain('file:/probe');
      expect(at({ secretKeyRef: { name: 'probe', key: 'key' } })).toContain('*');
      expect(needsWith(kind, path, false, [url, { env: 'PROBE' }]).clientHeaders).toEqual([]);
    },
  );
});

/** A value of a field that has an address, by the field of the grant. */
const PROBES: Readonly<Record<string, string>> = {
  webhookHosts: 'https://probe.example/x',
  databaseHosts: 'postgres://probe.example/a',
};
const TEXTS: Readonly<Record<string, string>> = {
  webhookHosts: 'https://probe.example/x',
  databaseHosts: 'probe.example',
  registries: 'probe.example/acme/a',
};

/** The parts that a spec needs around a field, by the name of the object or list. */
const PARTS: Readonly<Record<string, object>> = {
  'permissions[]': { role: 'probe' },
  insert: { columns: ['id'], check: {} },
  update: { columns: ['id'], filter: {} },
  delete: { filter: {} },
  validateInput: { url: { env: 'BASE' } },
  'readReplicas[]': { name: 'probe', url: { env: 'BASE' } },
  'connectionSet[]': { name: 'probe', url: { env: 'BASE' } },
  parameters: { host: 'base', port: 5432, database: 'a', username: 'a' },
  tls: { mode: 'VerifyCa' },
  'headers[]': { name: 'probe' },
};

type Spec = Readonly<Record<string, unknown>>;

/** Returns the spec with the value at the path. Objects and lists on the way are created, and what excludes the field is removed. */
function withField(spec: Spec, path: string, value: unknown): Spec {
  const [step, ...rest] = path.replace(/^spec\./, '').split('.');
  const name = step!.replace('[]', '');
  const isList = step!.endsWith('[]');
  const listed = rest.length > 0 ? (spec[name] as readonly Spec[] | undefined)?.[0] : undefined;
  const before = isList ? listed : (spec[name] as Spec | undefined);
  const part = { ...PARTS[step!], ...before };
  const isObject = typeof value === 'object' && isList;
  const inner =
    rest.length === 0 ? (isObject ? { ...part, ...value } : value) : withField(part, rest.join('.'), value);
  const left = { ...spec };
  if (name === 'url') delete left['parameters'];
  if (name === 'parameters') delete left['url'];
  return { ...left, [name]: isList ? [inner] : inner };
}

/** Returns the needs of the objects of an example of the kind with the value at the path, and with another value. */
function needsWith(
  kind: string,
  path: string,
  value: unknown,
  also?: readonly [path: string, value: unknown],
): Needs {
  const failures: string[] = [];
  for (const example of examples().filter((one) => one.kind === kind)) {
    const base = also ? withField(example.spec, ...also) : example.spec;
    const probed = { ...example, spec: withField(base, path, value) };
    try {
      const objects = objectsOf(probed, 'team');
      const all = DIMENSIONS.map((field) => [field, objects.flatMap((object) => needsOf(object)[field])]);
      return Object.fromEntries(all) as Needs;
    } catch (error) {
      failures.push(String(error));
    }
  }
  throw new Error(failures.join('\n'));
}

type Data = { readonly data: Readonly<Record<string, string>> };

const granted = (...grants: Granted['grants']): Granted => ({
  engine: 'api/main',
  namespace: 'team',
  isHome: false,
  grants,
});

/** Returns the objects that an example translates to, whoever may own them. ConfigMaps are those of the examples, and Secrets have some value. */
function objectsOf({ kind, metadata, spec }: Example, namespace = 'api'): readonly MetadataObject[] {
  const { governs } = kindOf(kind)!;
  if (governs) return governs(spec);
  const configMap = (_: string, name: string, key: string) => {
    if (name === 'probe') return PROBES[key] ?? 'probe';
    const { data } = examples().find((one) => one.metadata.name === name) as unknown as Data;
    return data[key];
  };
  const snapshot = snapshotOf([resource(kind, metadata.name, spec, { namespace })], {
    references: { secret: () => 'secret', configMap },
  });
  const ledger = { manager: OPTIONS.manager, objects: new Map() };
  const { claims, outcomes } = desire(snapshot, ledger, new Map(), OPTIONS);
  expect([...outcomes.values()], metadata.name).toEqual([]);
  return [...claims.values()].map(({ object }) => object);
}
