/** Compares `explain_access` on random filters and rows with what the role reads: the verdict is `visible` exactly for the rows that a query
 *  returns, every clause has the truth that it has as a filter of its own, and a row that is hidden becomes visible when the decisive
 *  clauses are changed.
 *  Not here: chosen permissions (engine/admin/explain-access.test.ts). ACCESS_SEED repeats a run. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { replaceMetadata, startTestEngine, type TestEngine } from '../../testing/engine.ts';
import {
  type Filter,
  type Random,
  randomFilter,
  randomFrom,
  SCHEMA,
  TABLES,
} from './testing/random-filter.ts';

const ROLES = 60;
const ROWS_OF_A_ROLE = 4;

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

let database: TestDatabase;
let engine: TestEngine;

beforeAll(async () => {
  database = await createDatabase();
  await database.sql(SCHEMA);
  engine = await startTestEngine({ databaseUrl: database.url });
}, 60_000);
afterAll(async () => {
  await engine?.close();
  await database?.drop();
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

async function explain(
  role: string,
  id: number,
  session_variables: Readonly<Record<string, string>>,
): Promise<Answer> {
  const args = { table: 'item', role, key: { id }, session_variables };
  const { status, body } = await engine.admin<Answer>('pg_explain_access', args);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
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
