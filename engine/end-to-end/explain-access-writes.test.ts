/** Compares `explain_access` on random permissions, rows and writes with what the mutations do: updates with every operator, upserts on a
 *  constraint and on an index, and several rows at once. The seeds are fixed; ACCESS_SEED replaces them.
 *  Not here: reads and plain writes (explain-access.test.ts), chosen permissions (engine/admin/explain-access). */
import { expect, test } from 'vitest';
import { replaceMetadata } from '../../testing/engine.ts';
import { testWorld } from '../../testing/world.ts';
import {
  type Filter,
  pick,
  type Random,
  randomFilter,
  randomFrom,
  SCHEMA,
  TABLES,
} from './testing/random-filter.ts';

const SEEDS = process.env['ACCESS_SEED'] ? [Number(process.env['ACCESS_SEED'])] : [11, 12, 13];
const WRITERS = 30;
const WRITES_OF_A_ROLE = 6;

/** Columns for the operators and for conflicts: documents of every kind, a default, and unique values. */
const MORE = `
  alter table item add data jsonb, add d int default 5, add slug text unique, add code text,
    add constraint item_pair unique (slug, d);
  create unique index item_code on item (lower(code)) where a is not null;
  update item set slug = 's' || id, code = 'C' || id, d = id % 4,
    data = (array['{"x": 1, "y": {"z": 2}}', '["x", "y", 3]', '"x"', '[]', '7', null, '{}'])[1 + id % 7]::jsonb;
  alter table item disable trigger all;
  alter table tag disable trigger all;
  create table kept as table item;
`;

const { database, engine } = testWorld(() => `${SCHEMA}; ${MORE}`);

const COLUMNS = ['id', 'owner_id', 'a', 'b', 'c', 'data', 'd', 'slug', 'code'];

type Writer = {
  readonly role: string;
  readonly readable: readonly string[];
  readonly insert: object;
  /** Null for a role without an update permission. */
  readonly update: object | null;
  readonly filter: Filter;
};

function randomWriter(random: Random, i: number): Writer {
  const most = (columns: readonly string[]) => columns.filter(() => random(25) > 0);
  const condition = () => pick<Filter>(random, [randomFilter(random, 1), {}, {}, documents(random)]);
  const preset = () => (random(4) === 0 ? { set: { owner_id: 'X-Engine-Owner' } } : {});
  const filter = pick<Filter>(random, [randomFilter(random, 1), {}, randomFilter(random, 2)]);
  const update = { columns: most(COLUMNS), filter, check: condition(), ...preset() };
  return {
    role: `w${i}`,
    readable: random(5) === 0 ? COLUMNS.filter((name) => name !== 'b') : COLUMNS,
    insert: { columns: most(COLUMNS), check: condition(), ...preset() },
    update: random(8) === 0 ? null : update,
    filter,
  };
}

/** Returns a condition on a document or a number that operators change. */
function documents(random: Random): Filter {
  return pick<Filter>(random, [
    { data: { _has_key: 'x' } },
    { data: { _contains: { x: 1 } } },
    { data: { _contains: ['x'] } },
    { _not: { data: { _eq: [] } } },
    { d: { _lt: 5 } },
    { _or: [{ a: { _gt: 2 } }, { d: { _gte: 3 } }] },
    { d: { _cgt: 'a' } },
  ]);
}

type Write = {
  readonly args: Readonly<Record<string, unknown>>;
  readonly kind: string;
  /** The GraphQL mutation that writes the same. */
  readonly mutation: string;
  readonly variables: Readonly<Record<string, unknown>>;
};

const OPERANDS: Readonly<Record<string, (random: Random) => object>> = {
  _set: (random) => pick(random, [{ b: 'y' }, { b: null, c: true }, { slug: 'new' }]),
  _inc: (random) => pick(random, [{ a: 1 }, { a: -2 }, { d: 2 }, { a: 2_147_483_647 }, { a: 1, d: 1 }]),
  _append: (random) => ({ data: pick<unknown>(random, [{ x: 1 }, ['x'], 'x', {}]) }),
  _prepend: (random) => ({ data: pick<unknown>(random, [['x'], { x: 2 }, 1]) }),
  _delete_key: (random) => ({ data: pick(random, ['x', 'none']) }),
  _delete_elem: (random) => ({ data: pick(random, [0, -1, 9]) }),
  _delete_at_path: (random) => ({ data: pick(random, [['y', 'z'], ['0'], ['x']]) }),
};

function randomUpdate(random: Random): Write {
  const id = 1 + random(120);
  const names = Object.keys(OPERANDS).filter(() => random(7) === 0);
  const operators = Object.fromEntries(
    (names.length > 0 ? names : [pick(random, Object.keys(OPERANDS))]).map((name) => [
      name,
      OPERANDS[name]!(random),
    ]),
  );
  const used = Object.keys(operators);
  const declared = used.map((name) => `$${name}: item${name}_input`).join(', ');
  const given = used.map((name) => `${name}: $${name}`).join(', ');
  const { _set, ...others } = operators;
  // `values` are those of `_set`, which may be given among the operators as well.
  const asValues = random(2) === 0 ? { values: _set, operators: others } : { operators };
  return {
    kind: `update ${used.join(' ')}`,
    args: { operation: 'update', key: { id }, ...asValues },
    mutation: `mutation (${declared}) { done: update_item_by_pk(pk_columns: {id: ${id}}, ${given}) { id } }`,
    variables: operators,
  };
}

function randomUpsert(random: Random): Write {
  const existing = 1 + random(120);
  const constraint = pick(random, ['item_pkey', 'item_slug_key', 'item_code', 'item_pair']);
  const conflicts = random(3) > 0;
  const values: Record<string, unknown> = { id: 1000, slug: 'new', code: 'new', a: random(4) };
  // The other unique values are new, so that no second constraint refuses the row.
  const conflicting: Readonly<Record<string, object>> = {
    item_pkey: { id: existing },
    item_slug_key: { slug: `s${existing}` },
    item_code: { code: pick(random, [`c${existing}`, `C${existing}`]) },
    item_pair: { slug: pick(random, [null, 'new']), d: 1 },
  };
  if (conflicts) Object.assign(values, conflicting[constraint]);
  if (random(3) > 0) values['d'] ??= random(4);
  if (random(2) === 0) values['b'] = pick(random, [null, 'x', 'y']);
  if (random(2) === 0) values['c'] = pick(random, [null, true]);
  if (random(3) === 0) values['data'] = pick<unknown>(random, [{ x: 1 }, [], null]);
  if (random(5) === 0) values['owner_id'] = pick(random, [1, 2]);
  if (random(6) === 0) delete values['a'];
  const updatable = ['a', 'b', 'c', 'data', 'd', 'owner_id'];
  const update_columns = random(6) === 0 ? [] : updatable.filter(() => random(4) === 0);
  const where = random(3) === 0 ? { where: randomFilter(random, 1) } : {};
  const on_conflict = { constraint, update_columns, ...where };
  return {
    kind: 'upsert',
    args: { operation: 'insert', values, on_conflict },
    mutation: `mutation ($object: item_insert_input!, $conflict: item_on_conflict) {
      done: insert_item_one(object: $object, on_conflict: $conflict) { id } }`,
    variables: { object: values, conflict: on_conflict },
  };
}

/** The first line of errors that Postgres raises for a value or a constraint, which permissions do not decide. */
const OUTSIDE = /unique|foreign key|null value/i;

/** Returns what a mutation does with its row, in the words of the verdict; null when a constraint of the database refuses it. */
async function outcomeOf({ mutation, variables }: Write, role: string): Promise<string | null> {
  const headers = { 'x-engine-owner': '2' };
  const { data, errors } = await engine.graphql<{ done: object | null }>(mutation, {
    role,
    headers,
    variables,
  });
  const [error] = errors ?? [];
  if (error) {
    expect(error.extensions?.['code']).not.toBe('unexpected');
    if (REPEATED.test(error.message)) return 'repeated';
    return OUTSIDE.test(error.message) ? null : 'refused';
  }
  return data!.done ? 'allowed' : 'hidden';
}

type Answer = {
  readonly verdict: string;
  readonly conflict?: { readonly exists: boolean | 'undecided' };
  readonly rows: readonly { readonly key: { readonly id: string }; readonly verdict: string }[];
};

const REPEATED = /^Column found in multiple operators: /;

async function explain(role: string, args: object): Promise<Answer> {
  const request = { table: 'item', role, session_variables: { 'x-engine-owner': '2' }, ...args };
  const { status, body } = await engine.admin<Answer>('pg_explain_access', request);
  if (status === 200) return body;
  const { error } = body as unknown as { readonly error: string };
  // A mutation refuses two operators on one column with the same words.
  expect({ request, error }).toMatchObject({ error: expect.stringMatching(REPEATED) });
  return { verdict: 'repeated', rows: [] };
}

async function serve(writers: readonly Writer[]): Promise<void> {
  const [item, ...others] = TABLES;
  const of = (permissionOf: (writer: Writer) => object | null) =>
    writers.flatMap((writer) => {
      const permission = permissionOf(writer);
      return permission ? [{ role: writer.role, permission }] : [];
    });
  const written = {
    ...item,
    configuration: { conflict_indexes: ['item_code'] },
    select_permissions: of(({ readable }) => ({ columns: readable, filter: {} })),
    insert_permissions: of(({ insert }) => insert),
    update_permissions: of(({ update }) => update),
  };
  const { status, body } = await replaceMetadata(engine, { tables: [written, ...others] });
  expect({ status, body }).toMatchObject({ status: 200 });
}

const DIGEST = 'select md5(string_agg(i::text, $$;$$ order by id)) from item i';
const RESET = 'delete from item; insert into item select * from kept';

test.each(SEEDS)(
  'verdicts on operators and upserts agree with what mutations do (seed %i)',
  async (seed) => {
    const random = randomFrom(seed);
    const writers = Array.from({ length: WRITERS }, (_, i) => randomWriter(random, i));
    await serve(writers);
    const counts: Record<string, number> = {};
    const count = (name: string) => {
      counts[name] = (counts[name] ?? 0) + 1;
    };
    for (const { role, ...permissions } of writers) {
      for (let i = 0; i < WRITES_OF_A_ROLE; i++) {
        const write = i % 2 === 0 ? randomUpdate(random) : randomUpsert(random);
        const before = await database.sql(DIGEST);
        const answer = await explain(role, write.args);
        expect(await database.sql(DIGEST)).toEqual(before);
        const outcome = await outcomeOf(write, role);
        if (outcome === 'allowed') await database.sql(RESET);
        const kind = write.kind.split(' ')[0];
        if (answer.verdict === 'repeated') {
          // A role that may not write the column does not have it in its schema.
          expect(['repeated', 'refused']).toContain(outcome);
          count('repeated');
          continue;
        }
        if (outcome === null || answer.verdict === 'undecided') {
          count(`${kind} undecided`);
          continue;
        }
        const context = { seed, role, permissions, write, answer };
        expect({ ...context, verdict: answer.verdict }).toEqual({ ...context, verdict: outcome });
        count(
          answer.conflict ? `${kind} ${outcome} conflict ${answer.conflict.exists}` : `${kind} ${outcome}`,
        );
        if (kind === 'update') for (const name of Object.keys(write.variables)) count(name);
      }
    }
    // Cases that do not occur would prove nothing.
    const decided = [
      ...['update allowed', 'update refused', 'update hidden'],
      ...['upsert allowed conflict true', 'upsert refused conflict true', 'upsert hidden conflict true'],
      ...['upsert allowed conflict false', 'upsert refused conflict false'],
      ...Object.keys(OPERANDS),
    ];
    for (const name of decided) expect([name, counts[name] ?? 0]).not.toEqual([name, 0]);
    expect(counts['upsert undecided'] ?? 0).toBeLessThan(WRITERS);
  },
  120_000,
);

test.each(SEEDS)(
  'verdicts on several rows agree with reads and with mutations of each (seed %i)',
  async (seed) => {
    const random = randomFrom(seed);
    const writers = Array.from({ length: 10 }, (_, i) => randomWriter(random, i));
    const [item, ...others] = TABLES;
    const permissions = (permissionOf: (writer: Writer) => object) =>
      writers.map((writer) => ({ role: writer.role, permission: permissionOf(writer) }));
    const table = {
      ...item,
      select_permissions: permissions(({ filter }) => ({ columns: '*', filter })),
      delete_permissions: permissions(({ filter }) => ({ filter })),
    };
    const { status, body } = await replaceMetadata(engine, { tables: [table, ...others] });
    expect({ status, body }).toMatchObject({ status: 200 });
    const counts = { visible: 0, hidden: 0 };
    for (const { role, filter } of writers) {
      const where = pick(random, [randomFilter(random, 1), { id: { _lte: 30 } }]);
      const chosen = await idsOf(where);
      const visible = await idsOf({}, role);
      const expected = chosen
        .slice(0, 100)
        .map((id) => [String(id), visible.includes(id) ? 'visible' : 'hidden']);
      const answer = await explain(role, { where });
      const context = { seed, role, filter, where };
      const verdicts = answer.rows.map(({ key, verdict }) => [key.id, verdict]);
      expect({ ...context, verdicts }).toEqual({ ...context, verdicts: expected });
      for (const [, verdict] of expected) counts[verdict as 'visible' | 'hidden']++;
      expect(answer).toMatchObject({ has_more: chosen.length > 100 });
      const deletes = await explain(role, { operation: 'delete', where });
      const deleted = deletes.rows.map(({ key, verdict }) => [
        key.id,
        verdict === 'allowed' ? 'visible' : verdict,
      ]);
      expect({ ...context, deleted }).toEqual({ ...context, deleted: expected });
    }
    expect(Math.min(counts.visible, counts.hidden)).toBeGreaterThan(20);
  },
  60_000,
);

async function idsOf(where: object, role?: string): Promise<readonly number[]> {
  const query = 'query ($where: item_bool_exp!) { item(where: $where, order_by: {id: asc}) { id } }';
  const options = { variables: { where }, ...(role === undefined ? {} : { role }) };
  const { data, errors } = await engine.graphql<{ item: { id: number }[] }>(query, options);
  expect(errors).toBeUndefined();
  return data!.item.map(({ id }) => id);
}
