/** What a role may not name it cannot find: not in the schema, not in an argument, and no error tells it from what does not
 *  exist. What it may name is exactly what Postgres grants the role that reads, or writes, as it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Arena, type Engine, makeVariables, openArena } from './testing/arena.ts';
import { Choices } from './testing/choices.ts';
import { check } from './testing/property.ts';
import { type Column, makeWorld, type Role, type Table } from './testing/world.ts';

let arena: Arena;
beforeAll(async () => {
  arena = await openArena();
});
afterAll(() => arena.close());

const NOBODY = makeVariables(new Choices([]));

test('a role finds what it was granted, and nothing else', async () => {
  await check({ world: 1600, request: 0, requests: 1 }, 15, async ({ world: ofWorld }) => {
    const world = makeWorld(new Choices(ofWorld));
    await arena.build(world);
    const engine = await arena.engine(world);
    try {
      for (const role of world.roles) {
        const types = await typesOf(engine, role);
        for (const table of world.tables) {
          await checkTable(types, table, role);
          await checkRefusals(engine, table, role);
        }
      }
    } finally {
      await engine.close();
    }
  });
}, 300_000);

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

async function checkTable(types: Types, table: Table, role: Role): Promise<void> {
  const { name } = table;
  const { select, insert, update, ...may } = role.permissions.get(table)!;
  const nothing: readonly Column[] = [];
  const sets = {
    read: names(select?.columns ?? nothing),
    insert: names(insert?.columns ?? nothing),
    update: names(update?.columns ?? nothing),
  };
  const isColumn = (member: string) => table.columns.some((column) => column.name === member);
  for (const [type, members] of types) {
    if (type !== name && !type.startsWith(`${name}_`)) continue;
    const found = members.filter(isColumn);
    const allowed = sets[purposeOf(type.slice(name.length))];
    expect(
      found.filter((member) => !allowed.includes(member)),
      `${role.name} in ${type}`,
    ).toEqual([]);
    const isWhole = ['', '_bool_exp', '_order_by', '_select_column', '_insert_input', '_set_input'];
    if (isWhole.includes(type.slice(name.length))) expect(found.sort(), type).toEqual([...allowed].sort());
  }
  expect(types.has(name), `type ${name} for ${role.name}`).toBe(select !== null);
  const roots = [...(types.get('query_root') ?? []), ...(types.get('mutation_root') ?? [])];
  const expected = {
    [name]: select !== null,
    [`${name}_aggregate`]: select?.allowsAggregation === true,
    [`insert_${name}`]: insert !== null,
    [`insert_${name}_one`]: insert !== null && select !== null,
    [`update_${name}`]: update !== null,
    [`update_${name}_many`]: update !== null,
    [`delete_${name}`]: may.delete !== null,
  };
  for (const [root, isThere] of Object.entries(expected)) {
    expect(roots.includes(root), `${root} for ${role.name}`).toBe(isThere);
  }
  if (!select) {
    const leading = table.relationships.map((relationship) => relationship.name);
    expect(types.get(name) ?? [], `${leading}`).toEqual([]);
  }
  if (table.of === null) expect(await grantedBy(table, role)).toEqual([...sets.read].sort());
}

const names = (columns: readonly Column[]) => columns.map((column) => column.name);

function purposeOf(suffix: string): 'read' | 'insert' | 'update' {
  if (suffix === '_insert_input') return 'insert';
  const isChange = /^_(set|inc|append|prepend|delete_\w+)_input$|^_update_column$|^_updates$/.test(suffix);
  return isChange ? 'update' : 'read';
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
async function checkRefusals(engine: Engine, table: Table, role: Role): Promise<void> {
  const { select } = role.permissions.get(table)!;
  const { name } = table;
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
  if (!select) {
    await alike(name, (word) => `{ ${word} { __typename } }`);
    await alike(`${name}_aggregate`, (word) => `{ ${word} { __typename } }`);
    return;
  }
  const hidden = table.columns.find((column) => !select.columns.includes(column));
  if (!hidden) return;
  await alike(hidden.name, (word) => `{ ${name} { ${word} } }`);
  await alike(hidden.name, (word) => `{ ${name}(where: {${word}: {_is_null: true}}) { __typename } }`);
  await alike(hidden.name, (word) => `{ ${name}(where: {_not: {_or: [{${word}: {}}]}}) { __typename } }`);
  await alike(hidden.name, (word) => `{ ${name}(order_by: {${word}: asc}) { __typename } }`);
  await alike(hidden.name, (word) => `{ ${name}(distinct_on: [${word}]) { __typename } }`);
  if (select.allowsAggregation) {
    await alike(hidden.name, (word) => `{ ${name}_aggregate { aggregate { count(columns: [${word}]) } } }`);
    await alike(hidden.name, (word) => `{ ${name}_aggregate { aggregate { max { ${word} } } } }`);
  }
  if (role.permissions.get(table)!.delete) {
    const remove = (word: string) => `mutation { delete_${name}(where: {}) { returning { ${word} } } }`;
    await alike(hidden.name, remove);
  }
}
