/** What a role may not name it cannot find: not in the schema, not in an argument, and no error tells it from what does not
 *  exist. What it may name is exactly what Postgres grants the role that reads, or writes, as it. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Arena, type Engine, makeVariables, openArena } from './testing/arena.ts';
import { Choices } from './testing/choices.ts';
import type { Names } from './testing/names.ts';
import { check, MOST_MS } from './testing/property.ts';
import { isGroupable } from './testing/request.ts';
import { makeWorld, type World } from './testing/world.ts';
import type { Column, Role, Table } from './testing/world-types.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await openArena();
});
afterAll(() => arena.close());

const NOBODY = makeVariables(new Choices([]));

test(
  'a role finds what it was granted, and nothing else',
  async () => {
    await check({ world: 1600, request: 0, requests: 1 }, 15, async ({ world: ofWorld }) => {
      const world = makeWorld(new Choices(ofWorld));
      await arena.build(world);
      const engine = await arena.engine(world);
      try {
        for (const role of world.roles) {
          const types = await typesOf(engine, role);
          checkFunctions(types, world, role);
          for (const table of world.tables) {
            await checkTable(types, table, role, world.names);
            await checkRefusals(engine, table, role, world.names);
          }
        }
      } finally {
        await engine.close();
      }
    });
  },
  MOST_MS,
);

type Types = ReadonlyMap<string, readonly string[]>;

/** Type → its fields, inputs or values, as the role is told. */
async function typesOf(engine: Engine, role: Role): Promise<Types> {
  const query = '{ __schema { types { name fields { name } inputFields { name } enumValues { name } } } }';
  const answer = await engine.ask({ query, variables: {} }, role, NOBODY);
  if (!('text' in answer)) throw new Error(answer.message);
  const { types } = JSON.parse(answer.text).data.__schema as { types: readonly Told[] };
  return new Map(
    types.map(({ name, fields, inputFields, enumValues }) => {
      const members = [...(fields ?? []), ...(inputFields ?? []), ...(enumValues ?? [])];
      return [name, members.map((member) => member.name)];
    }),
  );
}

type Named = readonly { readonly name: string }[] | null;
type Told = {
  readonly name: string;
  readonly fields: Named;
  readonly inputFields: Named;
  readonly enumValues: Named;
};

async function checkTable(types: Types, table: Table, role: Role, names: Names): Promise<void> {
  const { select, insert, update, ...may } = role.permissions.get(table)!;
  const named = (columns: readonly Column[] = []) => columns.map((column) => names.column(column));
  const sets = {
    read: [...named(select?.columns), ...named(select?.computed)],
    insert: named(insert?.columns),
    update: named(update?.columns),
  };
  const cells = named([...table.columns, ...table.computed]);
  const own = names.type(table);
  for (const [type, members] of types) {
    const suffix = suffixOf(type, own);
    if (suffix === null) continue;
    const found = members.filter((member) => cells.includes(member));
    const allowed = sets[purposeOf(suffix)];
    expect(
      found.filter((member) => !allowed.includes(member)),
      `${role.name} in ${type}`,
    ).toEqual([]);
    if (WHOLE.includes(suffix)) expect(found.sort(), type).toEqual([...allowed].sort());
    if (suffix === 'selectcolumn') expect(found.sort(), type).toEqual(named(select?.columns).sort());
  }
  expect(types.has(own), `type ${own} for ${role.name}`).toBe(select !== null);
  const roots = [...(types.get('query_root') ?? []), ...(types.get('mutation_root') ?? [])];
  const isGrouped = select?.allowsAggregation === true && select.columns.some(isGroupable);
  const expected = {
    [names.root(table)]: select !== null,
    [names.root(table, '', 'aggregate')]: select?.allowsAggregation === true,
    [names.root(table, '', 'group_by')]: isGrouped,
    [names.root(table, 'insert')]: insert !== null,
    [names.root(table, 'insert', 'one')]: insert !== null && select !== null,
    [names.root(table, 'update')]: update !== null,
    [names.root(table, 'update', 'many')]: update !== null,
    [names.root(table, 'delete')]: may.delete !== null,
  };
  for (const [root, isThere] of Object.entries(expected)) {
    expect(roots.includes(root), `${root} for ${role.name}`).toBe(isThere);
  }
  if (!select) expect(types.get(own) ?? []).toEqual([]);
  if (table.of !== null) return;
  const readable = (select?.columns ?? []).map(({ name }) => name).sort();
  expect(await grantedBy(table, role)).toEqual(readable);
}

/** What follows the table's own name, in lower case; null of a type that is about something else. */
function suffixOf(type: string, own: string): string | null {
  if (!type.startsWith(own)) return null;
  const rest = type.slice(own.length);
  return /^($|[A-Z_])/.test(rest) ? rest.replaceAll('_', '').toLowerCase() : null;
}

/** Types that have all that is granted. */
const WHOLE = ['', 'boolexp', 'orderby', 'insertinput', 'setinput'];

function purposeOf(suffix: string): 'read' | 'insert' | 'update' {
  if (suffix === 'insertinput') return 'insert';
  const isChange = /^(set|inc|append|prepend|delete\w+)input$|^updatecolumn$|^updates$/.test(suffix);
  return isChange ? 'update' : 'read';
}

/** A function that the role may call is one whose rows it may read. */
function checkFunctions(types: Types, { functions, names }: World, role: Role): void {
  for (const { returns, ...called } of functions) {
    const { select } = role.permissions.get(returns)!;
    const roots = types.get('query_root') ?? [];
    expect(roots.includes(names.root(called))).toBe(select !== null);
    const mayAggregate = select?.allowsAggregation === true;
    expect(roots.includes(names.root(called, '', 'aggregate'))).toBe(mayAggregate);
  }
}

/** Columns that Postgres lets the reader select. */
async function grantedBy(table: Table, role: Role): Promise<string[]> {
  const reader = arena.names.reader(role.name);
  const { rows } = await arena.owner.query<{ name: string }>(
    `select attname as name from pg_attribute where attrelid = 'public.${table.name}'::regclass and attnum > 0
       and attname <> '#' and has_column_privilege('${reader}', attrelid, attnum, 'select') order by attname collate "C"`,
  );
  return rows.map((row) => row.name);
}

/** A hidden column, table or root is refused in the words for one that does not exist. */
async function checkRefusals(engine: Engine, table: Table, role: Role, names: Names): Promise<void> {
  const { select } = role.permissions.get(table)!;
  const refusal = async (query: string, hidden: string): Promise<string> => {
    const answer = await engine.ask({ query, variables: {} }, role, NOBODY);
    if ('text' in answer) throw new Error(`${role.name} was answered ${query}: ${answer.text}`);
    return `${answer.code} ${answer.message}`
      .replaceAll(`'${hidden}'`, "'…'")
      .replaceAll(`"${hidden}"`, '"…"');
  };
  const alike = async (hidden: string, ask: (word: string) => string) => {
    expect(await refusal(ask(hidden), hidden)).toBe(await refusal(ask('nothing_x'), 'nothing_x'));
  };
  const root = names.root(table);
  const aggregate = names.root(table, '', 'aggregate');
  if (!select) {
    await alike(root, (word) => `{ ${word} { __typename } }`);
    await alike(aggregate, (word) => `{ ${word} { __typename } }`);
    return;
  }
  const cells = [...select.columns, ...select.computed];
  const hidden = [...table.columns, ...table.computed].find((column) => !cells.includes(column));
  if (!hidden) return;
  const asks = [
    (word: string) => `{ ${root} { ${word} } }`,
    (word: string) => `{ ${root}(where: {${word}: {${names.word('_is_null')}: true}}) { __typename } }`,
    (word: string) => `{ ${root}(where: {_not: {_or: [{${word}: {}}]}}) { __typename } }`,
    (word: string) =>
      `{ ${root}(${names.word('order_by')}: {${word}: ${names.value('asc')}}) { __typename } }`,
    (word: string) => `{ ${root}(${names.word('distinct_on')}: [${word}]) { __typename } }`,
  ];
  if (select.allowsAggregation) {
    asks.push((word) => `{ ${aggregate} { aggregate { count(columns: [${word}]) } } }`);
    asks.push((word) => `{ ${aggregate} { aggregate { max { ${word} } } } }`);
    if (select.columns.some(isGroupable)) {
      const group = names.root(table, '', 'group_by');
      const having = (word: string) => `{count: {arguments: [${word}], predicate: {_eq: 1}}}`;
      asks.push((word) => `{ ${group}(keys: [${word}]) { aggregate { count } } }`);
      asks.push((word) => `{ ${group}(keys: [], having: ${having(word)}) { aggregate { count } } }`);
    }
  }
  if (role.permissions.get(table)!.delete) {
    const remove = names.root(table, 'delete');
    asks.push((word) => `mutation { ${remove}(where: {}) { returning { ${word} } } }`);
  }
  for (const ask of asks) await alike(names.column(hidden), ask);
}
