/** Rows given as JSON objects by an administrator, inserted by the same plan and statement a GraphQL mutation would use:
 *  the `insert` operation, which seeds and fixtures are written in. In: a tracked table and objects by column name. Out: how
 *  many rows, and the columns asked back. Raises what Postgres raises, as ERRORS rows. Not here: permissions; it is admin's. */
import type pg from 'pg';
import { EngineError, fail, withPath } from '../errors/engine-error.ts';
import { parseJson } from '../json/parse-json.ts';
import { textOf } from '../plan/scalar-value.ts';
import { printedAs } from '../plan/table.ts';
import type { Field, Insert, OnConflict, Plan } from '../plan/types.ts';
import { type Leaf, type LeafValue, TRUE } from '../resolve/predicate.ts';
import type { Session } from '../resolve/session.ts';
import type { ResolvedColumn, ResolvedTable } from '../resolve/types.ts';
import { renderPlan } from '../sql/plan.ts';
import { textOfColumn } from '../wire/statement.ts';
import { bind } from './bind.ts';
import { engineErrorOf } from './pg-errors.ts';
import { type Row, runOn } from './pool.ts';

export type InsertRequest = {
  readonly objects: readonly Readonly<Record<string, unknown>>[];
  readonly returning: readonly string[];
  readonly onConflict: { readonly constraint: string; readonly action: 'ignore' | 'update' } | null;
};

export type InsertResult = { readonly affected_rows: number; readonly returning?: readonly unknown[] };

export async function insertObjects(
  client: pg.ClientBase,
  table: ResolvedTable,
  request: InsertRequest,
  session: Session,
): Promise<InsertResult> {
  const [statement] = renderPlan(planOf(table, request)).statements;
  if (!statement) return { affected_rows: 0 };
  let row: Row;
  try {
    const values = bind(statement.parameters, { session, variables: {} });
    row = await runOn(client, { name: '', text: statement.text }, values);
  } catch (error) {
    throw error instanceof EngineError ? error : engineErrorOf(error, statement.text, []);
  }
  return parseJson(textOfColumn(row[0] ?? null) ?? '{"affected_rows":0}') as InsertResult;
}

function planOf(table: ResolvedTable, request: InsertRequest): Plan {
  const { objects, returning } = request;
  if (objects.length === 0) return { operation: 'mutation', roots: [] };
  const given = new Set(objects.flatMap((object) => Object.keys(object)));
  const columns = [...given].map((name) => columnOf(table, name));
  const rows = objects.map((object, i) =>
    withPath('objects', () =>
      withPath(i, () =>
        columns.map((column) =>
          column.name in object ? leafOf(object[column.name], column) : ('default' as const),
        ),
      ),
    ),
  );
  const insert: Insert = {
    kind: 'insert',
    table: table.table,
    columns: columns.map(({ name, type }) => ({ column: name, type })),
    rows,
    onConflict: conflictOf(request, columns),
    check: TRUE,
  };
  const back =
    returning.length > 0
      ? [{ kind: 'returning' as const, alias: 'returning', select: selectOf(table, returning) }]
      : [];
  const output = {
    kind: 'response',
    fields: [{ kind: 'affected-rows', alias: 'affected_rows' }, ...back],
  } as const;
  return {
    operation: 'mutation',
    roots: [
      { kind: 'mutation', alias: 'insert', source: table.source, mutation: { action: insert, output } },
    ],
  };
}

function conflictOf({ onConflict }: InsertRequest, columns: readonly ResolvedColumn[]): OnConflict | null {
  if (!onConflict) return null;
  const updateColumns = onConflict.action === 'update' ? columns.map(({ name }) => name) : [];
  return {
    target: { kind: 'constraint', name: onConflict.constraint },
    updateColumns,
    presets: [],
    where: TRUE,
  };
}

function selectOf(table: ResolvedTable, names: readonly string[]) {
  const fields = names.map((name): Field => {
    return { kind: 'column', alias: name, column: name, ...printedAs(columnOf(table, name)), path: null };
  });
  return { table: table.table, fields, where: TRUE, orderBy: [], distinctOn: [], limit: null, offset: null };
}

function leafOf(value: unknown, { type }: ResolvedColumn): Leaf {
  return { kind: 'constant', value: textOf(value, type) as LeafValue, type };
}

function columnOf(table: ResolvedTable, name: string): ResolvedColumn {
  return table.columnByName.get(name) ?? fail('columnNotExists', { name });
}
