/** Twins of implied.ts: which filters are left out and which are kept, and that rows are the same with and without them. */
import '../../testing/seed.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { type Database, openDatabase } from '../database/pool.ts';
import { type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';
import type { Table } from '../metadata/schema/table.ts';
import { and, not, or, type Predicate } from '../resolve/predicate.ts';
import { catalogOf, resolveTables, tableIn } from '../resolve/testing/small-world.ts';
import { roleSchema } from '../schema/role-schemas.ts';
import { array, asc, compare, constant, int, many, object, rows, select, to } from '../sql/testing/build.ts';
import { runPlan } from '../sql/testing/run.ts';
import { prepareDocument } from './document.ts';
import { withoutImplied } from './implied.ts';
import { planRequest } from './plan.ts';
import type { Field, Select } from './query-types.ts';
import { coerceVariables } from './variables.ts';

const SHOP = catalogOf(
  tableIn('customer', { id: 'int4!', rep: 'int4', code: 'text' }, { primaryKey: ['id'], unique: [['code']] }),
  tableIn(
    'invoice',
    { id: 'int4!', customer_id: 'int4!', payer_id: 'int4', code: 'varchar', is_open: 'bool' },
    {
      primaryKey: ['id'],
      foreignKeys: [
        [['customer_id'], 'customer', ['id']],
        [['payer_id'], 'customer', ['id']],
      ],
    },
  ),
  tableIn(
    'line',
    { id: 'int4!', invoice_id: 'int4!' },
    { primaryKey: ['id'], foreignKeys: [[['invoice_id'], 'invoice', ['id']]] },
  ),
);

type Filters = Readonly<Record<'customer' | 'invoice' | 'line', Readonly<Record<string, unknown>>>>;

const MINE = { rep: { _eq: 'x-engine-user-id' } };
const CHAIN: Filters = { customer: MINE, invoice: { customer: MINE }, line: { invoice: { customer: MINE } } };

/** The relationships and the filters of a role `reader`. */
function tablesWith(filters: Filters): Readonly<Record<string, Partial<Table>>> {
  const there = (table: string, column: string) => ({
    foreign_key_constraint_on: { table: { schema: 'public', name: table }, columns: [column] },
  });
  const by = (local: string, table: string, remote: string) => ({
    manual_configuration: {
      remote_table: { schema: 'public', name: table },
      column_mapping: { [local]: remote },
    },
  });
  const permission = (name: keyof Filters) => ({
    select_permissions: [
      {
        role: 'reader',
        permission: { columns: '*' as const, filter: filters[name], allow_aggregations: true },
      },
      { role: 'other', permission: { columns: ['id'], filter: {} } },
    ],
  });
  return {
    customer: {
      array_relationships: [
        { name: 'invoices', using: there('invoice', 'customer_id') },
        { name: 'paid', using: there('invoice', 'payer_id') },
        { name: 'coded', using: by('code', 'invoice', 'code') },
      ],
      ...permission('customer'),
    },
    invoice: {
      object_relationships: [
        { name: 'customer', using: { foreign_key_constraint_on: ['customer_id'] } },
        { name: 'payer', using: { foreign_key_constraint_on: ['payer_id'] } },
        { name: 'coder', using: by('code', 'customer', 'code') },
      ],
      array_relationships: [{ name: 'lines', using: there('line', 'invoice_id') }],
      ...permission('invoice'),
    },
    line: {
      object_relationships: [{ name: 'invoice', using: { foreign_key_constraint_on: ['invoice_id'] } }],
      ...permission('line'),
    },
  };
}

/** Returns the conditions of each table that the request reads, from the root inwards. */
function conditionsOf(text: string, filters: Partial<Filters> = {}, catalog = SHOP): readonly string[] {
  const { model } = resolveTables(tablesWith({ ...CHAIN, ...filters }), catalog);
  const document = prepareDocument(roleSchema(model, 'reader', false), text, null);
  const { plan } = planRequest(document, coerceVariables(document, null));
  return plan.roots.flatMap((root) => {
    return root.kind === 'database' && root.query.kind === 'rows' ? printed(root.query.select) : [];
  });
}

function printed({ table, where, fields }: Select): readonly string[] {
  return [
    `${table.name}: ${kindsIn(where)}`,
    ...fields.flatMap((field) => ('select' in field ? printed(field.select) : [])),
  ];
}

/** Returns a condition in short: `customer(rep)`. */
function kindsIn(where: Predicate): string {
  switch (where.kind) {
    case 'compare':
      return where.left.column;
    case 'related':
      return `${where.join.table.name}(${kindsIn(where.where)})`;
    case 'and':
      return where.all.map(kindsIn).join(' and ');
    case 'or':
      return where.any.map(kindsIn).join(' or ');
    case 'not':
      return `not ${kindsIn(where.not)}`;
    default:
      return where.kind;
  }
}

describe('a filter is left out', () => {
  test('of rows whose parent satisfies it, at any distance', () => {
    expect(conditionsOf('{ customer { id invoices { id lines { id } } } }')).toEqual([
      'customer: rep',
      'invoice: true',
      'line: true',
    ]);
  });

  test('of the only parent that rows have, when they were checked to have one that satisfies it', () => {
    expect(conditionsOf('{ line { id invoice { id customer { id } } } }')).toEqual([
      'line: invoice(customer(rep))',
      'invoice: true',
      'customer: true',
    ]);
  });

  test('of aggregates, and of rows on the way back', () => {
    expect(conditionsOf('{ customer { invoices_aggregate { nodes { customer { id } } } } }')).toEqual([
      'customer: rep',
      'invoice: true',
    ]);
    expect(conditionsOf('{ invoice { customer { id invoices { id } } } }')).toEqual([
      'invoice: customer(rep)',
      'customer: true',
      'invoice: true',
    ]);
  });

  test('when it is one of several conditions of the parent, and the conditions of the row itself are kept', () => {
    const customer = { _and: [MINE, { code: { _neq: 'x' } }] };
    const invoice = { customer: MINE, is_open: { _eq: true } };
    expect(conditionsOf('{ customer { invoices { id } } }', { customer, invoice })).toEqual([
      'customer: rep and code',
      'invoice: is_open',
    ]);
  });
});

describe('a filter is kept', () => {
  const BOTH = ['customer: rep', 'invoice: customer(rep)'];

  test('over another relationship between the same tables', () => {
    expect(conditionsOf('{ customer { paid { id } } }')).toEqual(BOTH);
    expect(conditionsOf('{ invoice { payer { id } } }')).toEqual(['invoice: customer(rep)', 'customer: rep']);
  });

  test('when it compares with another value', () => {
    const invoice = { customer: { rep: { _eq: 'x-engine-other-id' } } };
    expect(conditionsOf('{ customer { invoices { id } } }', { invoice })).toEqual(BOTH);
    expect(conditionsOf('{ invoice { customer { id } } }', { invoice })).toEqual([
      'invoice: customer(rep)',
      'customer: rep',
    ]);
  });

  test('with another operator', () => {
    const invoice = { customer: { rep: { _gte: 'x-engine-user-id' } } };
    expect(conditionsOf('{ customer { invoices { id } } }', { invoice })).toEqual(BOTH);
  });

  test('with _or and _not', () => {
    const other = { code: { _eq: 'x' } };
    const either = { _or: [MINE, other] };
    const invoice = { customer: either };
    expect(conditionsOf('{ customer { invoices { id } } }', { customer: either, invoice })).toEqual([
      'customer: rep or code',
      'invoice: customer(rep or code)',
    ]);
    const beside = { _or: [{ customer: MINE }, { code: { _eq: 'x' } }] };
    expect(conditionsOf('{ customer { invoices { id } } }', { invoice: beside })).toEqual([
      'customer: rep',
      'invoice: customer(rep) or code',
    ]);
    const none = { _not: { customer: MINE } };
    expect(conditionsOf('{ customer { invoices { id } } }', { invoice: none })[1]).toBe(
      'invoice: not customer(rep)',
    );
  });

  test('when it compares with the row of the permission', () => {
    const invoice = { customer: { id: { _ceq: ['$', 'customer_id'] } } };
    const customer = { id: { _ceq: ['$', 'id'] } };
    expect(conditionsOf('{ customer { invoices { id } } }', { customer, invoice })[1]).toBe(
      'invoice: customer(id)',
    );
  });

  test('when the joined columns have different types', () => {
    const invoice = { coder: MINE };
    expect(conditionsOf('{ customer { coded { id } } }', { invoice })).toEqual(BOTH);
    expect(conditionsOf('{ invoice { coder { id } } }', { invoice })).toEqual([
      'invoice: customer(rep)',
      'customer: rep',
    ]);
  });

  test('of a parent whose key is no constraint, or does not cover the rows of tables that inherit', () => {
    const without = (change: object) => {
      const tables = [...SHOP.tables.values()].map((table) =>
        table.name === 'customer' ? { ...table, ...change } : table,
      );
      return conditionsOf('{ invoice { customer { id } } }', {}, catalogOf(...tables))[1];
    };
    expect(without({})).toBe('customer: true');
    expect(without({ isParent: true })).toBe('customer: rep');
    const index = { name: 'customer_pkey', columns: ['id'], isConstraint: false };
    expect(without({ primaryKey: null, uniqueKeys: [index] })).toBe('customer: rep');
  });

  test('of an inherited role, which has the filter of any parent', () => {
    const invoice = { _or: [{ customer: MINE }, { customer: { code: { _eq: 'x' } } }] };
    const customer = { _or: [MINE, { code: { _eq: 'x' } }] };
    expect(conditionsOf('{ customer { invoices { id } } }', { customer, invoice })[1]).toBe(
      'invoice: customer(rep) or customer(code)',
    );
  });
});

/** A chain of tables `n0` to `n3`; each row has a parent, and may have another one, in the table before. */
const LEVELS = 4;
const LINKS = ['up', 'other'] as const;
const CHAIN_CATALOG = catalogOf(
  ...Array.from({ length: LEVELS }, (_, level) =>
    tableIn(
      `n${level}`,
      { id: 'int4!', up: 'int4', other: 'int4', owner: 'int4', mark: 'int4' },
      { primaryKey: ['id'] },
    ),
  ),
);
const { model: CHAIN_MODEL } = resolveTables(
  Object.fromEntries([...CHAIN_CATALOG.tables.values()].map(({ name }) => [name, {}])),
  CHAIN_CATALOG,
);
const find = (table: QualifiedName) => CHAIN_MODEL.sources.get('default')!.tables.get(qualifiedKey(table));

type Direction = 'up' | 'down';
type Link = (typeof LINKS)[number];

const joinOf = (level: number, direction: Direction, link: Link) =>
  direction === 'up' ? to(`n${level - 1}`, link, 'id') : many(`n${level + 1}`, 'id', link);

/** A step to the level beside; one that does not exist is replaced by the other. */
const stepFrom = (level: number) =>
  fc
    .record({
      direction: fc.constantFrom<Direction>('up', 'up', 'down'),
      link: fc.constantFrom<Link>('up', 'up', 'other'),
    })
    .map(({ direction, link }): { direction: Direction; link: Link } => ({
      direction: level === 0 ? 'down' : level === LEVELS - 1 ? 'up' : direction,
      link,
    }));

const own = fc
  .tuple(fc.constantFrom('owner', 'owner', 'mark'), fc.constantFrom('1', '1', '2'))
  .map(([name, value]): Predicate => compare(name, '_eq', constant(value)));

function conditionAt(level: number, depth: number): fc.Arbitrary<Predicate> {
  if (depth === 0) return own;
  const inner = conditionAt(level, depth - 1);
  const related = stepFrom(level).chain(({ direction, link }) =>
    conditionAt(level + (direction === 'up' ? -1 : 1), depth - 1).map(
      (where): Predicate => ({ kind: 'related', join: joinOf(level, direction, link), where }),
    ),
  );
  return fc.oneof(
    { weight: 3, arbitrary: own },
    { weight: 6, arbitrary: related },
    { weight: 2, arbitrary: fc.tuple(inner, inner).map((all) => and(...all)) },
    { weight: 1, arbitrary: fc.tuple(inner, inner).map((any) => or(...any)) },
    { weight: 1, arbitrary: inner.map(not) },
  );
}

/** Fields that follow relationships, with a condition at each level; `filters` has one condition for each table. */
function fieldsAt(
  level: number,
  depth: number,
  filters: readonly Predicate[],
): fc.Arbitrary<readonly Field[]> {
  if (depth === 0) return fc.constant([int('id')]);
  return stepFrom(level).chain(({ direction, link }) => {
    const next = level + (direction === 'up' ? -1 : 1);
    const join = joinOf(level, direction, link);
    return fieldsAt(next, depth - 1, filters).map((fields) => {
      const where = filters[next]!;
      const related =
        direction === 'up'
          ? object('up', join, fields, where)
          : array('down', join, fields, { where, orderBy: [asc('id')] });
      return [int('id'), related];
    });
  });
}

const query = fc
  .tuple(...Array.from({ length: LEVELS }, (_, level) => conditionAt(level, 3)))
  .chain((filters) =>
    fc
      .integer({ min: 0, max: LEVELS - 1 })
      .chain((level) =>
        fieldsAt(level, 3, filters).map((fields) =>
          select(`n${level}`, fields, { where: filters[level]!, orderBy: [asc('id')] }),
        ),
      ),
  );

describe('rows are the same with and without the conditions that are left out', () => {
  const source = testDatabase();
  let database: Database;

  beforeAll(async () => {
    // Numbers without a pattern that the keys share: md5 of the table, the row and the column.
    const number = (level: number, column: string, most: number) =>
      `('x' || left(md5('${level} ${column} ' || i), 7))::bit(28)::int % ${most}`;
    for (let level = 0; level < LEVELS; level++) {
      const parent = (column: string) => `nullif(${number(level, column, 8)}, 0)`;
      const value = (column: string) => `nullif(${number(level, column, 4)}, 0)`;
      await source.sql(`create table n${level} (id int primary key, up int, other int, owner int, mark int);
        insert into n${level} select i, ${parent('up')}, ${parent('other')}, ${value('owner')}, ${value('mark')}
          from generate_series(1, ${8 + 4 * level}) i`);
    }
    database = openDatabase(source.url);
  });

  afterAll(() => database.close());

  test('for random chains of tables and conditions', async () => {
    let shorter = 0;
    let found = 0;
    await fc.assert(
      fc.asyncProperty(query, async (whole) => {
        const less = withoutImplied({ kind: 'rows', select: whole }, find);
        if (less.kind !== 'rows') throw new Error('the query is of rows');
        const [expected, actual] = [
          await runPlan(database, rows('n', whole)),
          await runPlan(database, rows('n', less.select)),
        ];
        expect(actual.data).toEqual(expected.data);
        if (JSON.stringify(less.select) !== JSON.stringify(whole)) {
          shorter++;
          if (JSON.stringify(expected.data).includes('"id"')) found++;
        }
      }),
      { numRuns: 1500 },
    );
    // The property says something only if conditions were left out of queries that return rows.
    expect(shorter).toBeGreaterThan(75);
    expect(found).toBeGreaterThan(30);
  });
});
