/** Compares `explain_access` on random filters and rows with what the role reads: the verdict is `visible` exactly for the rows that a query
 *  returns, every clause has the truth that it has as a filter of its own, and a row that is hidden becomes visible when the decisive
 *  clauses are changed.
 *  Not here: chosen permissions (engine/admin/explain-access). ACCESS_SEED repeats a run. */
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

const ROLES = 40;
const ROWS_OF_A_ROLE = 3;

type Clause = {
  readonly path: string;
  readonly clause: Filter;
  readonly holds: boolean | null;
  readonly is_decisive?: true;
  readonly clauses?: readonly Clause[];
};
type Answer = {
  readonly verdict: string;
  readonly reasons: readonly object[];
  readonly permissions: readonly { readonly filter: Clause }[];
};

const { database, engine } = testWorld(async (database) => {
  // Tags must not keep an item from being deleted.
  await database.sql(`${SCHEMA}; alter table item disable trigger all; create table kept as table item`);
});

test('verdicts and clauses agree with what Postgres returns', async () => {
  const seed = Number(process.env['ACCESS_SEED'] ?? Date.now() % 2 ** 31);
  const random = randomFrom(seed);
  const worlds = Array.from({ length: ROLES }, (_, i) => {
    const variables: Record<string, string> = {};
    const plain = randomFilter(random, 3);
    return { role: `r${i}`, plain, filter: withVariables(plain, variables, random) as Filter, variables };
  });
  const select_permissions = worlds.map(({ role, filter }) => ({
    role,
    permission: { columns: '*', filter },
  }));
  const [item, ...others] = TABLES;
  const { status, body } = await replaceMetadata(engine, {
    tables: [{ ...item, select_permissions }, ...others],
  });
  expect({ seed, status, body }).toMatchObject({ status: 200 });

  const counts = { visible: 0, hidden: 0, clauses: 0, isNull: 0 };
  for (const { role, plain, filter, variables } of worlds) {
    const visible = await idsOf({}, role, variables);
    for (let i = 0; i < ROWS_OF_A_ROLE; i++) {
      const id = 1 + random(120);
      const answer = await explain(role, id, variables);
      const context = { seed, role, id, filter, variables };
      expect({ ...context, verdict: answer.verdict }).toEqual({
        ...context,
        verdict: visible.has(id) ? 'visible' : 'hidden',
      });
      counts[visible.has(id) ? 'visible' : 'hidden']++;
      const root = answer.permissions[0]!.filter;
      for (const clause of clausesIn(root)) {
        const held = await truthOf(meant(wrapped(clause), variables) as Filter, id);
        expect({ ...context, clause, held }).toEqual({ ...context, clause, held: clause.holds });
        counts.clauses++;
        if (held === null) counts.isNull++;
      }
      if (visible.has(id)) continue;
      const changed = clausesIn(root)
        .filter((clause) => clause.is_decisive)
        .reduce((whole, clause) => withOpposite(whole, clause.path), structuredClone(plain));
      const isVisible = (await idsOf({ _and: [{ id: { _eq: id } }, changed] })).has(id);
      expect({ ...context, answer, changed, isVisible }).toEqual({
        ...context,
        answer,
        changed,
        isVisible: true,
      });
    }
  }
  // Filters that all rows pass would prove nothing.
  expect(Math.min(counts.visible, counts.hidden, counts.isNull)).toBeGreaterThan(5);
  expect(counts.clauses).toBeGreaterThan(ROLES * ROWS_OF_A_ROLE);
}, 120_000);

const WRITERS = 40;
const WRITES_OF_A_ROLE = 4;

test('verdicts on writes agree with what mutations do', async () => {
  const seed = Number(process.env['ACCESS_SEED'] ?? Date.now() % 2 ** 31);
  const random = randomFrom(seed);
  const writers = Array.from({ length: WRITERS }, (_, i) => {
    const variables: Record<string, string> = {};
    const [filter, check] = [2, 1].map((depth) =>
      withVariables(randomFilter(random, depth), variables, random),
    );
    return { role: `w${i}`, filter, check, variables };
  });
  const permissions = (permissionOf: (writer: (typeof writers)[number]) => object) =>
    writers.map((writer) => ({ role: writer.role, permission: permissionOf(writer) }));
  const [item, ...others] = TABLES;
  const written = {
    ...item,
    select_permissions: permissions(() => ({ columns: '*', filter: {} })),
    insert_permissions: permissions(({ check }) => ({ columns: '*', check })),
    update_permissions: permissions(({ filter, check }) => ({ columns: '*', filter, check })),
    delete_permissions: permissions(({ filter }) => ({ filter })),
  };
  const { status, body } = await replaceMetadata(engine, { tables: [written, ...others] });
  expect({ seed, status, body }).toMatchObject({ status: 200 });

  const counts: Record<string, number> = {};
  for (const writer of writers) {
    for (let i = 0; i < WRITES_OF_A_ROLE; i++) {
      const write = randomWrite(random);
      const { args, mutation, undo } = write;
      const { role, variables } = writer;
      const request = { table: 'item', role, session_variables: variables, ...args };
      const answer = await engine.admin<Answer>('pg_explain_access', request);
      const outcome = await outcomeOf(mutation, role, variables);
      await database.sql(undo);
      const context = { seed, writer, args, answer: answer.body };
      expect({ ...context, verdict: answer.body.verdict }).toEqual({ ...context, verdict: outcome });
      const name = `${args.operation} ${outcome}`;
      counts[name] = (counts[name] ?? 0) + 1;
    }
  }
  const all = ['insert allowed', 'insert refused', 'update allowed', 'update refused', 'update hidden'];
  for (const name of [...all, 'delete allowed', 'delete hidden'])
    expect([name, counts[name]]).not.toEqual([name, 0]);
  expect(Object.keys(counts).sort()).toEqual([...all, 'delete allowed', 'delete hidden'].sort());
}, 120_000);

type Write = {
  readonly args: { readonly operation: string } & Readonly<Record<string, unknown>>;
  /** The GraphQL mutation that writes the same. */
  readonly mutation: string;
  /** SQL that restores the row. */
  readonly undo: string;
};

function randomWrite(random: Random): Write {
  const id = 1 + random(120);
  const values = {
    owner_id: pick(random, [null, 1, 2, 3]),
    a: pick(random, [null, 0, 1, 2, 3]),
    b: pick(random, [null, 'x', 'y', 'xy']),
    c: pick(random, [null, true, false]),
  };
  const fields = Object.entries(values).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const restore = `insert into item select * from kept where id = ${id}
    on conflict (id) do update set owner_id = excluded.owner_id, a = excluded.a, b = excluded.b, c = excluded.c`;
  switch (random(3)) {
    case 0:
      return {
        args: { operation: 'insert', values: { id: 1000, ...values } },
        mutation: `mutation { done: insert_item_one(object: {id: 1000, ${fields.join(', ')}}) { id } }`,
        undo: 'delete from item where id = 1000',
      };
    case 1:
      return {
        args: { operation: 'update', key: { id }, values },
        mutation: `mutation { done: update_item_by_pk(pk_columns: {id: ${id}}, _set: {${fields.join(', ')}}) { id } }`,
        undo: restore,
      };
    default:
      return {
        args: { operation: 'delete', key: { id } },
        mutation: `mutation { done: delete_item_by_pk(id: ${id}) { id } }`,
        undo: restore,
      };
  }
}

/** Returns what a mutation does with its row, in the words of the verdict. */
async function outcomeOf(
  mutation: string,
  role: string,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const { data, errors } = await engine.graphql<{ done: object | null }>(mutation, { role, headers });
  if (errors) expect(errors).toMatchObject([{ extensions: { code: 'permission-error' } }]);
  return errors ? 'refused' : data!.done ? 'allowed' : 'hidden';
}

async function explain(
  role: string,
  id: number,
  session_variables: Readonly<Record<string, string>>,
): Promise<Answer> {
  const args = { table: 'item', role, key: { id }, session_variables };
  return engine.must<Answer>('pg_explain_access', args);
}

async function idsOf(
  where: object,
  role?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ReadonlySet<number>> {
  const query = 'query ($where: item_bool_exp!) { item(where: $where) { id } }';
  const options = { variables: { where }, headers, ...(role === undefined ? {} : { role }) };
  const answer = await engine.graphql<{ item: { id: number }[] }>(query, options);
  expect(answer.errors).toBeUndefined();
  return new Set(answer.data!.item.map(({ id }) => id));
}

/** Returns the truth of a condition for a row: Postgres returns it for the condition, for its negation, or for neither. */
async function truthOf(condition: Filter, id: number): Promise<boolean | null> {
  const [holds, fails] = await Promise.all(
    [condition, { _not: condition }].map(async (each) =>
      (await idsOf({ _and: [{ id: { _eq: id } }, each] })).has(id),
    ),
  );
  return holds ? true : fails ? false : null;
}

/** Replaces some numbers and texts by names of session variables, and records their values. */
function withVariables(value: unknown, variables: Record<string, string>, random: Random): unknown {
  if (Array.isArray(value)) return value.map((item) => withVariables(item, variables, random));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, item]) => [key, withVariables(item, variables, random)]);
    return Object.fromEntries(entries);
  }
  if (typeof value === 'boolean' || random(3) > 0) return value;
  const name = `x-engine-v${Object.keys(variables).length}`;
  variables[name] = String(value);
  return name;
}

/** Replaces names of session variables by their values. */
function meant(value: unknown, variables: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string' && value in variables) {
    const text = variables[value]!;
    return /^\d+$/.test(text) ? Number(text) : text;
  }
  if (Array.isArray(value)) return value.map((item) => meant(item, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, meant(item, variables)]));
}

function clausesIn(clause: Clause): readonly Clause[] {
  return [clause, ...(clause.clauses ?? []).flatMap(clausesIn)];
}

/** Returns a clause as a condition on `item`: inside the relationship that it is reached by. */
function wrapped({ path, clause }: Clause): Filter {
  return /\.owner\./.test(path) ? { owner: clause } : clause;
}

/** Returns the filter with the part at the path replaced by its opposite: true where it must hold, false under `_not`. */
function withOpposite(filter: Filter, path: string): Filter {
  const steps = path
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .slice(1);
  const mustHold = steps.filter((step) => step === '_not').length % 2 === 0;
  const last = steps.pop();
  if (last === undefined) return mustHold ? {} : { _or: [] };
  let within = filter as Record<string, never>;
  for (const step of steps) within = within[step]!;
  const isOperator = last.startsWith('_') && !['_and', '_or', '_not'].includes(last);
  if (mustHold) delete within[last];
  else Object.assign(within, isOperator ? { _in: [] } : { [last]: { _or: [] } });
  return filter;
}
