/** Insert, update, delete → one statement with a data-modifying CTE: `with m as (insert … returning *) select …`.
 *  Its columns are the response's JSON text and, where a permission has a check, whether every written row passes it.
 *  What `returning` selects from other tables is the state before the statement (PostgreSQL manual, "Data-Modifying
 *  Statements in WITH"). Not here: acting on a failed check (execute/answer.ts). Spec: "Permission arguments". */
import type { Assignment, Insert, MutationOutput, MutationRoot, OnConflict, Update } from '../plan/types.ts';
import { condition, whereClause } from './bool-exp.ts';
import { comma, empty, type Fragment, id, join, param, qualified, sql } from './fragment.ts';
import { concatenate, expression, jsonObject, type Piece, text } from './json.ts';
import { Aliases, columnOf, rowScope } from './scope.ts';
import { type From, rowQuery, rowsQuery } from './table.ts';

export type MutationQuery = {
  readonly query: Fragment;
  /** Its second column is `true` or `false`: did every written row pass the permission's check. */
  readonly isChecked: boolean;
};

const WRITTEN = id('written');
const fromWritten: From = () => WRITTEN;

export function mutationQuery({ action, output }: MutationRoot): MutationQuery {
  const aliases = new Aliases();
  const written = statementOf(action, aliases);
  const isChecked = action.kind !== 'delete' && action.check.kind !== 'true';
  const check = isChecked ? sql`, ${allPass(action.check, aliases)} as "passes"` : empty;
  const result = sql`${outputJson(output, aliases)} as "json"${check}`;
  return { query: sql`with ${WRITTEN} as (${written}) select ${result}`, isChecked };
}

function statementOf(action: MutationRoot['action'], aliases: Aliases): Fragment {
  switch (action.kind) {
    case 'insert':
      return insertStatement(action, aliases);
    case 'update':
      return updateStatement(action, aliases);
    case 'delete': {
      const row = aliases.next();
      const where = whereClause([condition(action.where, rowScope(row, aliases))]);
      return sql`delete from ${qualified(action.table)} ${id(row)}${where} returning ${id(row)}.*`;
    }
    default:
      return action satisfies never;
  }
}

function insertStatement(insert: Insert, aliases: Aliases): Fragment {
  const row = aliases.next();
  const into = sql`insert into ${qualified(insert.table)} as ${id(row)}`;
  const conflict = insert.onConflict ? conflictClause(insert.onConflict, row, aliases) : empty;
  const returning = sql` returning ${id(row)}.*`;
  if (insert.columns.length === 0) return sql`${into} default values${conflict}${returning}`;
  const columns = join(
    insert.columns.map(({ column }) => id(column)),
    comma,
  );
  const rows = insert.rows.map((values) => {
    return sql`(${join(
      values.map((value) => (value === 'default' ? sql`default` : param(value))),
      comma,
    )})`;
  });
  return sql`${into} (${columns}) values ${join(rows, comma)}${conflict}${returning}`;
}

function conflictClause(conflict: OnConflict, row: string, aliases: Aliases): Fragment {
  const target = sql` on conflict on constraint ${id(conflict.constraint)}`;
  if (conflict.updateColumns.length === 0) return sql`${target} do nothing`;
  const set = [
    ...conflict.updateColumns.map((column) => sql`${id(column)} = "excluded".${id(column)}`),
    ...conflict.presets.map((preset) => assignment(preset, row)),
  ];
  const where = whereClause([condition(conflict.where, rowScope(row, aliases))]);
  return sql`${target} do update set ${join(set, comma)}${where}`;
}

function updateStatement(update: Update, aliases: Aliases): Fragment {
  const row = aliases.next();
  const set = join(
    update.set.map((a) => assignment(a, row)),
    comma,
  );
  const where = whereClause([condition(update.where, rowScope(row, aliases))]);
  return sql`update ${qualified(update.table)} ${id(row)} set ${set}${where} returning ${id(row)}.*`;
}

function assignment({ kind, column, value }: Assignment, row: string): Fragment {
  const old = columnOf(row, column);
  return sql`${id(column)} = ${ASSIGNMENTS[kind](old, param(value))}`;
}

const ASSIGNMENTS: Readonly<Record<Assignment['kind'], (old: Fragment, value: Fragment) => Fragment>> = {
  set: (_old, value) => value,
  increment: (old, value) => sql`${old} + ${value}`,
  append: (old, value) => sql`${old} || ${value}`,
  prepend: (old, value) => sql`${value} || ${old}`,
  'delete-key': (old, value) => sql`${old} - ${value}`,
  'delete-element': (old, value) => sql`${old} - ${value}`,
  'delete-at-path': (old, value) => sql`${old} #- ${value}`,
};

function allPass(check: Insert['check'], aliases: Aliases): Fragment {
  const row = aliases.next();
  // A check that is null (a comparison with null) has not been passed.
  const passes = sql`coalesce((${condition(check, rowScope(row, aliases))}), false)`;
  return sql`(select coalesce(bool_and(${passes}), true) from ${WRITTEN} ${id(row)})`;
}

function outputJson(output: MutationOutput, aliases: Aliases): Fragment {
  if (output.kind === 'row') return sql`(${rowQuery(output.select, aliases, fromWritten)})`;
  const entries = output.fields.map((field) => ({ key: field.alias, value: [outputPiece(field, aliases)] }));
  return concatenate(jsonObject(entries));
}

function outputPiece(
  field: Extract<MutationOutput, { kind: 'response' }>['fields'][number],
  aliases: Aliases,
): Piece {
  switch (field.kind) {
    case 'affected-rows':
      return expression(sql`(select count(*)::text from ${WRITTEN})`);
    case 'returning':
      return expression(sql`(${rowsQuery(field.select, aliases, fromWritten)})`);
    case 'constant':
      return text(field.json);
    default:
      return field satisfies never;
  }
}
