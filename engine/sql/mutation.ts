/** Insert, update, delete → statements. Most mutations are one statement that writes and builds the response: `with written as
 *  (insert … returning *) select '{"affected_rows":' || …`, and for a single row `update … returning '{"id":' || …`. Such a statement sees other tables, and its own, as they were
 *  before it (PostgreSQL manual, "Data-Modifying Statements in WITH"). A response that selects through relationships therefore
 *  takes two statements: `write` returns the rows in Postgres's text format, `answer` receives them as a parameter. Not here:
 *  running them (execute/). Spec: "Permission arguments". */
import { arrayOf, builtinType, type PgType } from '../catalog/types.ts';
import type {
  Delete,
  Insert,
  MutationField,
  MutationOutput,
  NestedInsert,
  NestedUpdate,
  Update,
} from '../plan/mutation-types.ts';
import type { Field, Select } from '../plan/query-types.ts';
import type { RowsDistribution } from '../resolve/distributions.ts';
import { isOfRow, isOwn } from '../resolve/own-part.ts';
import { TRUE } from '../resolve/predicate.ts';
import { SESSION_SETTINGS } from '../resolve/session.ts';
import { condition, whereClause } from './bool-exp.ts';
import { checkOf, verdict } from './check.ts';
import { fromWritten } from './distributed-write.ts';
import { type DistributionOf, distributed, withRows } from './distribution.ts';
import { empty, type Fragment, id, join, literal, param, sql, typeName } from './fragment.ts';
import { Joins } from './join.ts';
import { concatenate, expression, joinedRows, jsonArray, jsonObject, type Piece, text } from './json.ts';
import {
  ALL_PASS,
  insertStepQuery,
  PASSES,
  ROW,
  rowType,
  type StepQuery,
  updateStepQuery,
  WRITTEN,
} from './nested-write.ts';
import { Aliases, columnOf, rowScope, WHOLE_ROW } from './scope.ts';
import { StepStatements } from './step-statements.ts';
import { rowJson } from './table.ts';
import { writeOf } from './write.ts';

export type MutationAction = Insert | NestedInsert | Update | NestedUpdate | Delete;

export type MutationQuery = {
  /** Statements that run before `write`; `write` builds the response then. */
  readonly steps: readonly StepQuery[];
  /** The first column is the response, or the written rows when `answer` is set. No row at all means that nothing was written. */
  readonly write: Fragment;
  /** One column: the response. It receives the written rows through its `written` leaf. */
  readonly answer: Fragment | null;
  /** True when a cluster must change its shards one by one, although `write` is the only statement: it changes a reference table after it
   *  has read shards. */
  readonly isOneByOne?: true;
};

/** A column without text that sets the session. It is computed once, with the first row, and so before any trigger that runs after the
 *  statement (PostgreSQL manual, "Overview of Trigger Behavior"). */
const SET_SESSION = sql`(select left(${join(
  SESSION_SETTINGS.map((setting) => {
    const value = param({ kind: 'session-setting', setting, type: builtinType('text') });
    return sql`set_config(${literal(setting)}, ${value}, true)`;
  }),
  sql` || `,
)}, 0))`;

/** The number of written rows. */
const COUNT = sql`count(*)::text`;

/** `settings` is true when code that runs after the statement may read the session: the statement then sets it itself. */
export function mutationQuery(
  action: MutationAction,
  output: MutationOutput,
  settings = false,
  distributionOf: DistributionOf | null = null,
): MutationQuery {
  if (action.kind === 'nested-insert') {
    const statements = new StepStatements();
    return nestedQuery(
      action.steps.map((step) => insertStepQuery(step, statements, distributionOf)),
      action,
      output,
      distributionOf,
    );
  }
  if (action.kind === 'nested-update') {
    const steps = action.steps.map((step) => updateStepQuery(step, distributionOf));
    return nestedQuery(steps, action, output, distributionOf);
  }
  if (distributionOf) {
    const steps = rowByRow(action, output, distributionOf);
    if (steps) return mutationQuery(steps, output, settings, distributionOf);
    return distributedQuery(action, output, settings, distributionOf);
  }
  const aliases = new Aliases();
  const row = aliases.next();
  const check = action.kind === 'delete' ? null : checkOf(action, row, aliases);
  const set = settings ? sql`, ${SET_SESSION}` : empty;
  if (output.kind === 'row' && !looksAround(output)) {
    const columns = sql`${outputJson(output, row, aliases).json}${check ? sql`, ${verdict(sql`(${check})`)}` : empty}${set}`;
    return { steps: [], write: statementOf(action, row, aliases, columns), answer: null };
  }
  const passes = check ? sql`, ${check} as ${PASSES}` : empty;
  if (!looksAround(output)) {
    const written = statementOf(action, row, aliases, sql`${id(row)}.*${passes}`);
    const from = aliases.next();
    const { json, joins, having } = outputJson(output, from, aliases);
    const columns = sql`${json}${check ? sql`, ${verdict(passed(output))}` : empty}${set}`;
    const query = sql`select ${columns} from ${WRITTEN} ${id(from)}${joins.clauses()}${having}`;
    return { steps: [], write: sql`with ${WRITTEN} as (${written}) ${query}`, answer: null };
  }
  const type = rowType(action.table);
  const written = statementOf(action, row, aliases, sql`${id(row)}.*::${typeName(type)} as ${ROW}${passes}`);
  const checked = check ? sql`, ${verdict(ALL_PASS)}` : empty;
  const rows = sql`select array_agg(${ROW})::text${checked} from ${WRITTEN}`;
  return {
    steps: [],
    write: sql`with ${WRITTEN} as (${written}) ${rows}`,
    answer: answerQuery(output, type, null),
  };
}

/** Returns an insert into a cluster that returns several rows as one statement for each of them: the shards would return theirs one after the
 *  other, and not in the order of the objects. As in one statement, no row is updated after another object has written it. */
function rowByRow(
  action: Insert | Update | Delete,
  output: MutationOutput,
  distributionOf: DistributionOf,
): NestedInsert | null {
  const returnsRows = output.kind === 'response' && output.fields.some(({ kind }) => kind === 'returning');
  if (action.kind !== 'insert' || action.rows.length < 2 || !returnsRows) return null;
  const key = action.onConflict?.updateColumns.length ? distributionOf(action.table)?.key : undefined;
  return {
    kind: 'nested-insert',
    table: action.table,
    steps: action.rows.map((row) => ({
      insert: { ...action, rows: [row] },
      keeps: key ?? [],
      isAnswered: true,
      ...(key ? { writesOnce: true } : {}),
      unlessInserted: null,
      path: [],
    })),
  };
}

/** Returns the statements of a write to a table of a cluster. */
function distributedQuery(
  action: Insert | Update | Delete,
  output: MutationOutput,
  settings: boolean,
  distributionOf: DistributionOf,
): MutationQuery {
  const aliases = new Aliases();
  const { table } = action;
  const isAnswered = looksAround(output);
  const query = fromWritten(action, distributionOf, aliases, (row, check) => {
    const isOne = output.kind === 'row' && !isAnswered;
    const checked = check ? sql`, ${verdict(isOne ? sql`(${check})` : sql`bool_and(${check})`)}` : empty;
    if (isAnswered) return { columns: sql`array_agg(${aliases.rowOf(row, table)})::text${checked}` };
    const { json, joins, having } = outputJson(output, row, aliases);
    const columns = sql`${json}${checked}${settings ? sql`, ${SET_SESSION}` : empty}`;
    return { columns, joins: joins.clauses(), having };
  });
  const answer = isAnswered ? answerQuery(output, rowType(table), distributionOf) : null;
  const readsFirst = action.kind !== 'insert' && !isOwn(action.where);
  const isOneByOne = readsFirst && distributionOf(table)?.kind === 'reference';
  return { steps: [], write: query, answer, ...(isOneByOne ? { isOneByOne } : {}) };
}

function nestedQuery(
  steps: readonly StepQuery[],
  { table }: NestedInsert | NestedUpdate,
  output: MutationOutput,
  distributionOf: DistributionOf | null,
): MutationQuery {
  const affected = param({ kind: 'affected-rows', type: builtinType('text') });
  return {
    steps,
    write: answerQuery(output, rowType(table), distributionOf, affected),
    answer: null,
  };
}

function statementOf(
  action: Insert | Update | Delete,
  row: string,
  aliases: Aliases,
  returning: Fragment,
): Fragment {
  return sql`${writeOf(action, row, aliases)} returning ${returning}`;
}

function passed(output: MutationOutput): Fragment {
  return output.kind === 'row' ? PASSES : ALL_PASS;
}

/** The column of the position of a written row. */
const ORDER = 'row order';

/** Returns the source of written rows with their positions. A cluster joins them to other rows in any order. The workers do not have
 *  the row type of a local table, so that the rows of one whose response needs them as a whole have no positions. */
function numbered(rows: Fragment, hasWholeRow: boolean): Fragment {
  const row = sql`(${rows})[${ORDINAL}]`;
  const whole = hasWholeRow ? sql`${row} as ${id(WHOLE_ROW)}, ` : empty;
  return sql`(select ${whole}(${row}).*, ${ORDINAL} as ${id(ORDER)} from generate_subscripts(${rows}, 1) ${ORDINAL})`;
}

const ORDINAL = id('n');

function isLocal(distribution: RowsDistribution | null): boolean {
  return distribution === null || distribution.kind === 'local';
}

/** True when the response calls a function with a written row. */
function readsWholeRow(output: MutationOutput): boolean {
  const aliases = new Aliases();
  const row = aliases.next();
  aliases.widen(row);
  outputJson(output, row, aliases);
  return aliases.readsRow(row);
}

function answerQuery(
  output: MutationOutput,
  type: PgType,
  distributionOf: DistributionOf | null,
  affected = COUNT,
): Fragment {
  const rows = param({ kind: 'written', type: arrayOf(type) });
  const isNumbered = distributionOf !== null && !(isLocal(distributionOf(type)) && readsWholeRow(output));
  const { query, gathered } = distributed(distributionOf, new Aliases(), (aliases) => {
    const row = aliases.next();
    if (isNumbered) aliases.widen(row);
    const order = isNumbered ? sql` order by ${columnOf(row, ORDER)}` : empty;
    const { json, joins, having } = outputJson(output, row, aliases, { affected, order });
    const source = aliases.source({
      table: type,
      row,
      source: isNumbered ? numbered(rows, aliases.readsRow(row)) : sql`unnest(${rows})`,
    });
    return sql`select ${json} from ${source} ${id(row)}${joins.clauses()}${whereClause(aliases.anchored(row))}${having}`;
  });
  return withRows(gathered, query);
}

/** `having` makes the query return one row over all rows when it contains no aggregate. PostgreSQL manual, "The GROUP BY and
 *  HAVING Clauses". */
type Output = { readonly json: Fragment; readonly joins: Joins; readonly having: Fragment };

/** Returns the response over the written rows under the alias `row`: an aggregate, or one row. It omits rows outside
 *  `select.where`, which --strict-returning adds. */
function outputJson(
  output: MutationOutput,
  row: string,
  aliases: Aliases,
  { affected = COUNT, order = empty }: { readonly affected?: Fragment; readonly order?: Fragment } = {},
): Output {
  const joins = new Joins(aliases);
  if (output.kind === 'row') {
    const json = rowJson(output.select.fields, row, joins);
    const visible = visibility(output.select, row, aliases);
    return { json: visible ? sql`case when ${visible} then ${json} end` : json, joins, having: empty };
  }
  const entries = output.fields.map((field) => ({
    key: field.alias,
    value: field.kind === 'affected-rows' ? [expression(affected)] : outputPieces(field, row, joins, order),
  }));
  const isAggregate = output.fields.some(
    ({ kind }) => kind === 'returning' || (kind === 'affected-rows' && affected === COUNT),
  );
  return { json: concatenate(jsonObject(entries)), joins, having: isAggregate ? empty : sql` having true` };
}

type RowsField = Exclude<MutationField, { kind: 'affected-rows' }>;

function outputPieces(field: RowsField, row: string, joins: Joins, order: Fragment): Piece[] {
  switch (field.kind) {
    case 'returning': {
      const rows = joinedRows(rowJson(field.select.fields, row, joins), order);
      const visible = visibility(field.select, row, joins.aliases);
      return jsonArray(visible ? sql`${rows} filter (where ${visible})` : rows);
    }
    case 'constant':
      return [text(field.json)];
    default:
      return field satisfies never;
  }
}

function visibility(select: Select, row: string, aliases: Aliases): Fragment | null {
  return select.where.kind === 'true' ? null : condition(select.where, rowScope(row, aliases));
}

/** True when the response reads more than the written rows themselves. */
function looksAround(output: MutationOutput): boolean {
  const selects: readonly Select[] =
    output.kind === 'row'
      ? [output.select]
      : output.fields.flatMap((field) => (field.kind === 'returning' ? [field.select] : []));
  // The function of a computed field may read any table.
  const isOwn = (field: Field) =>
    field.kind === 'constant' || (field.kind === 'column' && isOfRow(field.visibleIf ?? TRUE));
  return selects.some((select) => !select.fields.every(isOwn) || !isOfRow(select.where));
}
