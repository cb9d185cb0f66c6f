/** The names in documents: read, and replaced, wherever they occur. */
import { assert, gen, property } from 'fast-check';
import { expect, test } from 'vitest';
import type { Name } from './bool-exp-names.ts';
import { fieldsIn, referencesOf } from './dependencies.ts';
import { namesIn, renameIn, renameObject } from './names.ts';
import { objectsOf } from './objects.ts';
import type { Metadata } from './schema/metadata.ts';
import { type NamedWorld, namedWorld } from './testing/named-metadata.ts';

const RUNS = { numRuns: 20, endOnFailure: true };

/** Returns the names of a world that occur in a text. */
function occurring({ names }: NamedWorld, value: unknown): readonly string[] {
  const found = new Set(JSON.stringify(value).match(/\w+/g));
  return names.filter((name) => found.has(name));
}

function textOf({ name }: Name): string {
  return typeof name === 'string' ? name : name.name;
}

/** Returns the document with one name replaced along the marks of schemas. */
function renamedIn({ metadata, links }: NamedWorld, old: string, next: string): Metadata {
  return renameIn(metadata, {
    fieldOf: fieldsIn(objectsOf(metadata), links),
    rename: (name) => {
      if (textOf(name) !== old) return undefined;
      return typeof name.name === 'string' ? next : { ...name.name, name: next };
    },
  });
}

test('the names in an object are those in its text, each with the table and the source that it belongs to', () => {
  assert(
    property(gen(), (random) => {
      const world = namedWorld(random);
      const objects = objectsOf(world.metadata);
      for (const object of objects.values()) {
        const names = namesIn(object, fieldsIn(objects, world.links));
        const known = new Set(world.names);
        const read = new Set(names.map(textOf).filter((name) => known.has(name)));
        expect([object.key, ...[...read].sort()]).toEqual([
          object.key,
          ...[...occurring(world, object.definition)].sort(),
        ]);
        for (const name of names) {
          const owner = world.owners.get(textOf(name));
          if (owner && 'table' in name) expect([name.source, name.table]).toEqual(owner);
        }
      }
    }),
    RUNS,
  );
});

test('an object refers to the objects whose names are in its text, and to the table that a database leads it to', () => {
  assert(
    property(gen(), (random) => {
      const world = namedWorld(random);
      const objects = objectsOf(world.metadata);
      for (const object of objects.values()) {
        const named = occurring(world, object.definition)
          .flatMap((name) => world.keys.get(name) ?? [])
          .filter((key) => key !== object.key && !key.startsWith('source/'));
        const found = referencesOf(object, objects, world.links).filter((key) => objects.has(key));
        const hidden = found.filter((key) => !named.includes(key));
        expect([object.key, ...named.filter((key) => !found.includes(key))]).toEqual([object.key]);
        // Without a name in its text, only a foreign key or the type of a function leads to a table.
        if (hidden.length > 0) expect(object.kind).toMatch(/^(object_relationship|function)$/);
        expect(hidden.length).toBeLessThan(2);
      }
    }),
    RUNS,
  );
});

test('a renamed name leaves no old name in the document, and nothing else changes', () => {
  assert(
    property(gen(), (random) => {
      const world = namedWorld(random);
      const text = linesOf(world.metadata);
      for (const name of world.names) {
        const next = renamedIn(world, name, 'new_name');
        const written = text.map((line) => line.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), 'new_name'));
        const wrong = linesOf(next).filter((line, i) => line !== written[i]);
        expect([name, ...wrong]).toEqual([name]);
      }
    }),
    { numRuns: 5, endOnFailure: true },
  );
});

/** Returns the lines of a document with bare names of tables in full, as a renamed table is written. */
function linesOf(metadata: Metadata): readonly string[] {
  const text = JSON.stringify(metadata).replaceAll(
    /"_table":"(\w+)"/g,
    '"_table":{"schema":"public","name":"$1"}',
  );
  return JSON.stringify(JSON.parse(text), null, 1).split('\n');
}

test('what has no renamed name stays identical', () => {
  assert(
    property(gen(), (random) => {
      const world = namedWorld(random);
      expect(renamedIn(world, 'nothing', 'x')).toBe(world.metadata);
      const [source = '', other = ''] = world.metadata.sources.map(({ name }) => name);
      const { custom_types: types, ...rest } = renameObject(world.metadata, `source/${source}`, 'x');
      expect(rest.query_collections).toBe(world.metadata.query_collections);
      expect(rest.sources.map(({ name }) => name)).toEqual(['x', other]);
      expect(occurring(world, [types, rest])).not.toContain(source);
    }),
    { numRuns: 5, endOnFailure: true },
  );
});

test('a relationship of a custom type without a source is in default, and names its source once that is renamed', () => {
  const far = { name: 'far', type: 'object' as const, field_mapping: {} };
  const remote_table = { schema: 'public', name: 'author' };
  const objects = (source?: string) => {
    const relationships = [{ ...far, remote_table, ...(source === undefined ? {} : { source }) }];
    return [{ name: 'User', fields: [], relationships }];
  };
  const metadata: Metadata = { version: 3, sources: [], custom_types: { objects: objects() } };
  expect(renameObject(metadata, 'source/default', 'main').custom_types).toEqual({ objects: objects('main') });
  expect(renameObject(metadata, 'source/other', 'main')).toBe(metadata);
});

test('a table is renamed inside its schema', () => {
  assert(
    property(gen(), (random) => {
      const { metadata, keys } = namedWorld(random);
      const [old = '', key = ''] = [...keys].find(([, one]) => one.startsWith('table/'))!;
      const before = linesOf(metadata);
      const fieldOf = fieldsIn(objectsOf(metadata));
      const next = linesOf(renameObject(metadata, key, 'x', fieldOf));
      expect(next.filter((line) => line.includes(`"name": "${old}"`))).toEqual([]);
      expect(next.filter((line, i) => line !== before[i] && !line.includes('"name": "x"'))).toEqual([]);
    }),
    { numRuns: 2, endOnFailure: true },
  );
});

test('expressions and tables in which a name does not occur are not followed', () => {
  const metadata: Metadata = {
    version: 3,
    sources: [
      {
        name: 'default',
        kind: 'postgres',
        configuration: { connection_info: { database_url: 'postgres://x' } },
        tables: ['author', 'article'].map((name) => ({
          table: { schema: 'public', name },
          select_permissions: ['owner', 'editor'].map((column) => ({
            role: column,
            permission: { columns: [column], filter: { [column]: { [`${name}_id`]: { _eq: 1 } } } },
          })),
        })),
      },
    ],
  };
  const followed: string[] = [];
  const fieldOf = (_source: string, table: { readonly name: string }, name: string) => {
    followed.push(`${table.name}.${name}`);
    return undefined;
  };
  const key = 'object_relationship/default/public/author/owner';
  const next = renameObject(metadata, key, 'holder', fieldOf);
  expect(followed).toEqual(['author.owner', 'article.owner']);
  expect(next).toBe(metadata);
});

test('a source that the engine cannot serve is kept as it is', () => {
  const foreign = { name: 'x', kind: 'mssql', tables: [{ table: { schema: 'public', name: 'author' } }] };
  const metadata = { version: 3, sources: [foreign] } as unknown as Metadata;
  const next = renameIn(metadata, { fieldOf: () => undefined, rename: () => 'y' });
  expect(next.sources[0]).toBe(foreign);
});
