/** `explain_access` on updates with operators, on upserts and on several rows: verdicts, reasons and refusals, through admin requests.
 *  Not here: one row by key (explain-access.test.ts), random writes (engine/end-to-end/explain-access-writes.test.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let engine: AdminTestEngine;

const OWN = { owner: { _eq: 'X-Engine-User-Id' } };

beforeAll(async () => {
  engine = await startTestEngine();
  await engine.must(
    op('run_sql', {
      sql: `create table note (id serial primary key, owner int, slug text unique, size int, tags jsonb, secret text,
              later int, constraint note_later unique (later) deferrable);
            insert into note (owner, slug, size, tags) select 1 + i % 2, 's' || i, i, '["a"]' from generate_series(1, 5) i;
            create table many (id int primary key); insert into many select generate_series(1, 120);
            create view names as select slug as name, size from note;
            create table part (id int primary key, owner int) partition by range (id);
            create table part_1 partition of part for values from (0) to (100); insert into part values (1, 1), (2, 2)`,
    }),
  );
  const permission = (type: string, role: string, rule: object, table = 'note') =>
    op(`create_${type}_permission`, { table, role, permission: rule });
  const columns = ['id', 'slug', 'size', 'tags'];
  await engine.must(
    op('bulk', [
      ...['note', 'many', 'names', 'part'].map((table) => op('track_table', table)),
      permission('select', 'writer', { columns: [...columns, 'owner'], filter: OWN }),
      permission('select', 'writer', { columns: '*', filter: { id: { _gt: 60 } } }, 'many'),
      permission('select', 'writer', { columns: '*', filter: { size: { _lt: 3 } } }, 'names'),
      permission('insert', 'writer', {
        columns,
        set: { owner: 'X-Engine-User-Id' },
        check: { size: { _gt: 0 } },
      }),
      permission('update', 'writer', {
        columns: ['size', 'tags', 'slug'],
        filter: OWN,
        check: { size: { _lt: 10 } },
        set: { secret: 'X-Engine-Secret' },
      }),
      permission('insert', 'adder', { columns: '*', check: {} }),
      permission('insert', 'writer', { columns: '*', check: { id: { _lt: 50 } } }, 'part'),
      permission(
        'update',
        'writer',
        { columns: ['owner'], filter: {}, check: { owner: { _lt: 3 } } },
        'part',
      ),
    ]),
  );
}, 180_000);
afterAll(() => engine.close());

type Answer = {
  readonly verdict: string;
  readonly reasons: readonly { readonly kind: string; readonly message: string; readonly path?: string }[];
  readonly rows: readonly {
    readonly key: object;
    readonly verdict: string;
    readonly reasons: readonly object[];
  }[];
  readonly [key: string]: unknown;
};

const session_variables = { 'x-engine-user-id': '1', 'x-engine-secret': 'hush' };

async function send(args: object) {
  return engine.metadata(
    op('pg_explain_access', { table: 'note', role: 'writer', session_variables, ...args }),
  );
}

async function explain(args: object): Promise<Answer> {
  const { status, body } = await send(args);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as Answer;
}

const update = (operators: object, key = { id: 2 }) => explain({ operation: 'update', key, operators });
const upsert = (values: object, on_conflict: object, more: object = {}) =>
  explain({ operation: 'insert', values, on_conflict, ...more });

test('the check of an update is judged on the row that its operators would write', async () => {
  expect(await update({ _inc: { size: 7 } })).toMatchObject({ verdict: 'allowed', reasons: [] });
  const refused = await update({ _inc: { size: 8 } });
  expect(refused).toMatchObject({ verdict: 'refused', reasons: [{ kind: 'check', path: 'check.size._lt' }] });
  expect(refused.reasons[0]!.message).toContain('size is "10"');
  expect(await update({ _append: { tags: ['b'] } })).toMatchObject({ verdict: 'allowed' });
  expect(await update({ _inc: { size: 8 } }, { id: 1 })).toMatchObject({ verdict: 'hidden' });
  const sizes = await engine.database.sql('select size, tags from note where id = 2');
  expect(sizes).toEqual([{ size: 2, tags: ['a'] }]);
});

test('a value that Postgres cannot compute refuses the update, but not of a hidden row', async () => {
  expect(await update({ _inc: { size: 2_147_483_647 } })).toMatchObject({
    verdict: 'refused',
    reasons: [{ kind: 'error', message: 'integer out of range' }],
  });
  expect(await update({ _inc: { size: 2_147_483_647 } }, { id: 1 })).toMatchObject({ verdict: 'hidden' });
});

test('an operator on a column without permission, or with a preset, is refused', async () => {
  expect(await update({ _inc: { owner: 1 } })).toMatchObject({
    verdict: 'refused',
    reasons: [{ kind: 'column_not_permitted', message: 'role "writer" may not update column "owner"' }],
  });
  expect(await update({ _set: { secret: 'x' } })).toMatchObject({
    verdict: 'refused',
    reasons: [{ kind: 'preset_column' }],
  });
});

const CONFLICT = { constraint: 'note_slug_key', update_columns: ['size'] };

test('an upsert without a conflict is judged as an insert', async () => {
  const answer = await upsert({ id: 9, slug: 'new', size: 20 }, CONFLICT);
  expect(answer).toMatchObject({
    verdict: 'allowed',
    conflict: { constraint: 'note_slug_key', exists: false, update_columns: ['size'] },
    permissions: [{ operation: 'insert', check: { holds: true } }],
  });
  expect(await upsert({ id: 9, slug: 'new', size: 0 }, CONFLICT)).toMatchObject({
    verdict: 'refused',
    reasons: [{ path: 'check.size._gt' }],
  });
});

test('an upsert with a conflict is judged by the update permission', async () => {
  const answer = await upsert({ id: 9, slug: 's2', size: 3 }, CONFLICT);
  expect(answer).toMatchObject({
    verdict: 'allowed',
    conflict: { exists: true, key: { id: '2' } },
    presets: [{ column: 'secret', value: 'hush' }],
  });
  expect(await upsert({ id: 9, slug: 's2', size: 20 }, CONFLICT)).toMatchObject({
    verdict: 'refused',
    reasons: [{ kind: 'check', path: 'check.size._lt' }],
  });
  // The check of the insert does not count for a row that is updated.
  expect(await upsert({ id: 9, slug: 's2', size: 0 }, CONFLICT)).toMatchObject({ verdict: 'allowed' });
  expect(await upsert({ id: 9, slug: 's1', size: 3 }, CONFLICT)).toMatchObject({
    verdict: 'hidden',
    reasons: [{ kind: 'filter', path: 'filter.owner._eq' }],
  });
  expect(await engine.database.sql('select count(*), sum(size) from note')).toEqual([
    { count: '5', sum: '15' },
  ]);
});

test('the where of on_conflict, and no columns to update, leave the row as it is', async () => {
  const where = { size: { _gt: 3 } };
  expect(await upsert({ slug: 's2', size: 3 }, { ...CONFLICT, where })).toMatchObject({
    verdict: 'hidden',
    reasons: [{ kind: 'where', message: 'where of on_conflict does not hold for the row that conflicts' }],
  });
  expect(await upsert({ slug: 's2', size: 3 }, { ...CONFLICT, update_columns: [] })).toMatchObject({
    verdict: 'hidden',
    reasons: [{ kind: 'conflict', message: 'a row conflicts on note_slug_key, and update_columns is empty' }],
  });
});

test('a role without an update permission may name no column, whether a row conflicts or not', async () => {
  for (const slug of ['s2', 'new']) {
    const values = { id: 9, slug, size: 3 };
    expect(await upsert(values, CONFLICT, { role: 'adder' })).toMatchObject({
      verdict: 'refused',
      reasons: [{ kind: 'no_permission', message: 'role "adder" has no update permission on note' }],
    });
    const { verdict } = await upsert(values, { constraint: 'note_slug_key' }, { role: 'adder' });
    expect(verdict).toBe(slug === 's2' ? 'hidden' : 'allowed');
  }
});

test('a column that the role may not update, and a condition on one that it may not read, are refused', async () => {
  const values = { id: 9, slug: 'new', size: 3 };
  expect(await upsert(values, { ...CONFLICT, update_columns: ['owner'] })).toMatchObject({
    verdict: 'refused',
    reasons: [{ kind: 'column_not_permitted', message: 'role "writer" may not update column "owner"' }],
  });
  const where = { secret: { _eq: 'x' } };
  const refused = await upsert(values, { ...CONFLICT, where });
  expect(refused).toMatchObject({ verdict: 'refused', reasons: [{ kind: 'column_not_permitted' }] });
  expect(refused.reasons[0]!.message).toBe(
    'where of on_conflict: role "writer" does not have permission to select column "secret"',
  );
});

test('a conflict on a column that takes its default is undecided', async () => {
  expect(await upsert({ slug: 'new', size: 3 }, { ...CONFLICT, constraint: 'note_pkey' })).toMatchObject({
    verdict: 'undecided',
    reasons: [
      {
        kind: 'conflict',
        message: 'whether a row conflicts on note_pkey cannot be decided: id is not known before the write',
      },
    ],
    conflict: { exists: 'undecided' },
  });
});

test('both checks apply to an upsert into a partitioned table', async () => {
  const on_conflict = { constraint: 'part_pkey', update_columns: ['owner'] };
  const part = (values: object) => upsert(values, on_conflict, { table: 'part' });
  expect(await part({ id: 3, owner: 5 })).toMatchObject({
    verdict: 'refused',
    reasons: [{ path: 'check.owner._lt' }],
  });
  expect(await part({ id: 1, owner: 2 })).toMatchObject({ verdict: 'allowed', conflict: { exists: true } });
  expect(await part({ id: 60, owner: 2 })).toMatchObject({
    verdict: 'refused',
    reasons: [{ path: 'check.id._lt' }],
  });
});

test('a session variable of the update permission is needed even when no row conflicts', async () => {
  const answer = await upsert({ id: 9, slug: 'new', size: 3 }, CONFLICT, {
    session_variables: { 'x-engine-user-id': '1' },
  });
  expect(answer).toMatchObject({
    verdict: 'refused',
    reasons: [{ message: 'session variable x-engine-secret is not set, and a permission needs it' }],
  });
});

test('rows that satisfy a condition are explained each, in the order of the primary key', async () => {
  const answer = await explain({ where: { size: { _lte: 3 } } });
  expect(answer).toMatchObject({
    operation: 'select',
    verdicts: { visible: 1, hidden: 2 },
    has_more: false,
    rows: [
      { key: { id: '1' }, verdict: 'hidden', reasons: [{ path: 'filter.owner._eq' }] },
      { key: { id: '2' }, verdict: 'visible', reasons: [] },
      { key: { id: '3' }, verdict: 'hidden' },
    ],
  });
  expect(answer).not.toHaveProperty('verdict');
  const updates = await explain({ operation: 'update', where: {}, operators: { _inc: { size: 6 } } });
  expect(updates).toMatchObject({ verdicts: { allowed: 1, hidden: 3, refused: 1 } });
  expect(await explain({ where: { size: { _gt: 99 } } })).toMatchObject({ rows: [], verdicts: {} });
});

test('at most 100 rows are explained, and the answer says that there are more', async () => {
  const answer = await explain({ table: 'many', where: {} });
  expect(answer.rows).toHaveLength(100);
  expect(answer).toMatchObject({ has_more: true, verdicts: { hidden: 60, visible: 40 } });
  expect(answer['notes']).toEqual(['more than 100 rows satisfy where: the answer has the first 100']);
});

test('a value that fails for one row is an error of that row alone', async () => {
  await engine.database.sql('update note set size = 2147483647 where id = 4');
  const answer = await explain({ operation: 'update', where: {}, operators: { _inc: { size: 1 } } });
  await engine.database.sql('update note set size = 4 where id = 4');
  const verdicts = answer.rows.map(({ verdict }) => verdict);
  expect(verdicts).toEqual(['hidden', 'allowed', 'hidden', 'refused', 'hidden']);
  expect(answer.rows[3]!.reasons).toMatchObject([{ kind: 'error', message: 'integer out of range' }]);
});

test('rows of a view without a key are named by all their columns', async () => {
  const answer = await explain({ table: 'names', where: { size: { _lte: 3 } } });
  expect(answer.rows).toHaveLength(3);
  expect(answer.rows).toContainEqual(
    expect.objectContaining({ key: { name: 's3', size: '3' }, verdict: 'hidden' }),
  );
  expect(answer.rows).toContainEqual(
    expect.objectContaining({ key: { name: 's2', size: '2' }, verdict: 'visible' }),
  );
});

const MISTAKES: readonly [string, object, string, string][] = [
  [
    'an operator that does not exist',
    { operation: 'update', key: { id: 1 }, operators: { _add: { size: 1 } } },
    '_add is no operator of an update; use _append, _delete_at_path, _delete_elem, _delete_key, _inc, _prepend, _set',
    '$.args.operators._add',
  ],
  [
    'an operator of another type',
    { operation: 'update', key: { id: 1 }, operators: { _inc: { slug: 1 } } },
    '_inc does not apply to column "slug" of type text',
    '$.args.operators._inc.slug',
  ],
  [
    'an operator on documents for a number',
    { operation: 'update', key: { id: 1 }, operators: { _append: { size: [1] } } },
    '_append does not apply to column "size" of type int4',
    '$.args.operators._append.size',
  ],
  [
    'a path that is no list',
    { operation: 'update', key: { id: 1 }, operators: { _delete_at_path: { tags: 'a' } } },
    'parsing [] failed, expected Array, but encountered String',
    '$.args.operators._delete_at_path.tags',
  ],
  [
    'a position that is null',
    { operation: 'update', key: { id: 1 }, operators: { _delete_elem: { tags: null } } },
    '_delete_elem takes no null',
    '$.args.operators._delete_elem.tags',
  ],
  [
    'two operators on one column',
    { operation: 'update', key: { id: 1 }, values: { size: 1 }, operators: { _inc: { size: 1 } } },
    "Column found in multiple operators: ['size'].",
    '$.args.operators',
  ],
  [
    'values and _set',
    { operation: 'update', key: { id: 1 }, values: { size: 1 }, operators: { _set: { slug: 'x' } } },
    'values are the operands of _set; give one of them',
    '$.args.operators._set',
  ],
  [
    'operators of an insert',
    { operation: 'insert', operators: { _inc: {} } },
    'an insert takes no operators',
    '$.args.operators',
  ],
  [
    'on_conflict of an update',
    { operation: 'update', key: { id: 1 }, on_conflict: CONFLICT },
    'an update takes no on_conflict',
    '$.args.on_conflict',
  ],
  [
    'a constraint that does not exist',
    { operation: 'insert', values: {}, on_conflict: { constraint: 'nope' } },
    '"nope" is no constraint that an upsert of note can name; use note_pkey, note_slug_key',
    '$.args.on_conflict.constraint',
  ],
  [
    'a constraint that is deferrable',
    { operation: 'insert', values: {}, on_conflict: { constraint: 'note_later' } },
    '"note_later" is no constraint that an upsert of note can name; use note_pkey, note_slug_key',
    '$.args.on_conflict.constraint',
  ],
  [
    'a column to update that does not exist',
    { operation: 'insert', values: {}, on_conflict: { ...CONFLICT, update_columns: ['nope'] } },
    'column "nope" does not exist',
    '$.args.on_conflict.update_columns[0]',
  ],
  [
    'a column to update given twice',
    { operation: 'insert', values: {}, on_conflict: { ...CONFLICT, update_columns: ['size', 'size'] } },
    'column "size" is given twice',
    '$.args.on_conflict.update_columns[1]',
  ],
  [
    'a condition of on_conflict on no column',
    { operation: 'insert', values: {}, on_conflict: { ...CONFLICT, where: { nope: {} } } },
    '"nope" does not exist',
    '$.args.on_conflict.where.nope',
  ],
  ['a key and a condition', { key: { id: 1 }, where: {} }, 'give either key or where', '$.args.where'],
  [
    'a condition of an insert',
    { operation: 'insert', where: {} },
    'an insert takes no where',
    '$.args.where',
  ],
  ['a condition on no column', { where: { nope: { _eq: 1 } } }, '"nope" does not exist', '$.args.where.nope'],
];

test.each(MISTAKES)('%s is refused', async (_, args, error, path) => {
  const { status, body } = await send(args);
  expect({ status, body }).toMatchObject({ status: 400, body: { error, path } });
});
