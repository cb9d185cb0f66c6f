/** Tests what the author of each kind can reach from another namespace: nothing without a grant, and with one no more than it covers. The objects
 *  are those of deploy/examples/every-kind, and the table is that of docs/guides/security.md.
 *  Not here: single objects (grants.test.ts), revocation (end-to-end/tenants.test.ts). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MetadataObject } from '@pergola/engine/metadata';
import { describe, expect, test } from 'vitest';
import { type Example, examples } from '../../testing/examples.ts';
import { desire } from '../decide/desired.ts';
import { KINDS, type KindRow, kindOf } from '../kinds.ts';
import { OPTIONS, resource, snapshotOf } from '../testing/resources.ts';
import { type Granted, objectionTo } from './grants.ts';
import { DIMENSIONS, type Dimension, needsOf } from './needs.ts';

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
  ({ kind, isTest }) => kind !== 'Engine' && !isTest,
);

describe.each(ROWS.map(({ kind, concerns }) => [kind, concerns] as const))('%s', (kind, concerns) => {
  const objects = examples()
    .filter((example) => example.kind === kind)
    .flatMap(objectsOf);
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
    expect(['variables', 'webhookHosts', 'registries', 'references']).toEqual(expect.arrayContaining(others));
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

type Data = { readonly data: Readonly<Record<string, string>> };

const granted = (...grants: Granted['grants']): Granted => ({
  engine: 'api/main',
  namespace: 'team',
  isHome: false,
  grants,
});

/** Returns the objects that an example translates to, whoever may own them. ConfigMaps are those of the examples, and Secrets have some value. */
function objectsOf({ kind, metadata, spec }: Example): readonly MetadataObject[] {
  const { governs } = kindOf(kind)!;
  if (governs) return governs(spec);
  const configMap = (_: string, name: string, key: string) => {
    const { data } = examples().find((one) => one.metadata.name === name) as unknown as Data;
    return data[key];
  };
  const snapshot = snapshotOf([resource(kind, metadata.name, spec)], {
    references: { secret: () => 'secret', configMap },
  });
  const ledger = { manager: OPTIONS.manager, objects: new Map() };
  const { claims, outcomes } = desire(snapshot, ledger, new Map(), OPTIONS);
  expect([...outcomes.values()], metadata.name).toEqual([]);
  return [...claims.values()].map(({ object }) => object);
}
