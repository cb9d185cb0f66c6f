/** Captures rows for an event trigger: one function per operation, which writes the event, and the trigger of the table that
 *  calls it. In: a resolved event trigger. Out: statements that create or drop them. The functions run with the privileges of
 *  their owner (SECURITY DEFINER), so writers of the table need no privilege on the log. Not here: the log
 *  (events/event-log.sql). PostgreSQL manual, "CREATE TRIGGER", "Trigger Functions". */

import type { Capture, ResolvedEventTrigger } from '../resolve/model/event-trigger.ts';
import {
  comma,
  compile,
  dollarQuoted,
  empty,
  type Fragment,
  id,
  join,
  nameText,
  qualified,
  sql,
} from './fragment.ts';

const SCHEMA = 'pergola';
const NEW = sql`new`;
const OLD = sql`old`;

/** Returns statements that drop the functions of an event trigger and create them again. */
export function captureText(trigger: ResolvedEventTrigger): string {
  const made = trigger.captures.map((capture) => makeOne(trigger, capture));
  return compile(join([dropAll(trigger.name), ...made], empty)).text;
}

/** A trigger that a database has or should have, with the function that it calls. */
export type CaptureRow = {
  readonly function: string;
  readonly schema: string;
  readonly table: string;
  readonly body: string;
  readonly isAlways: boolean;
};

/** Lists the triggers of a database that call functions of event triggers, as CaptureRow. */
export const CAPTURES = `
select p.proname as function, n.nspname as schema, c.relname as table, p.prosrc as body, t.tgenabled = 'A' as "isAlways"
  from pg_catalog.pg_trigger t
  join pg_catalog.pg_proc p on p.oid = t.tgfoid
  join pg_catalog.pg_class c on c.oid = t.tgrelid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
 where p.pronamespace = to_regnamespace('${SCHEMA}')`;

/** Returns the rows of CAPTURES that an event trigger needs. */
export function captureRows(trigger: ResolvedEventTrigger): readonly CaptureRow[] {
  const { name, table, isAlways = false } = trigger;
  return trigger.captures.map((capture) => ({
    function: `${name}_${capture.operation}`,
    schema: table.schema,
    table: table.name,
    body: compile(bodyOf(trigger, capture)).text,
    isAlways,
  }));
}

export function dropCaptureText(name: string): string {
  return compile(dropAll(name)).text;
}

/** Dropping the function with CASCADE drops the trigger, even when its table was renamed. */
function dropAll(name: string): Fragment {
  const drop = (operation: string) =>
    sql`drop function if exists ${functionOf(name, operation)}() cascade;\n`;
  return join(['INSERT', 'UPDATE', 'DELETE'].map(drop), empty);
}

function makeOne(trigger: ResolvedEventTrigger, capture: Capture): Fragment {
  const { operation } = capture;
  const called = functionOf(trigger.name, operation);
  const table = qualified(trigger.table);
  const own = id(`pergola_${trigger.name}_${operation}`);
  const always = trigger.isAlways ? sql`alter table ${table} enable always trigger ${own};\n` : empty;
  return sql`create function ${called}() returns trigger language plpgsql security definer
    set search_path = pg_catalog, pg_temp as ${dollarQuoted(bodyOf(trigger, capture))};
create trigger ${own} after ${WORDS[operation]} on ${table} for each row execute function ${called}();
${always}`;
}

const WORDS = { INSERT: sql`insert`, UPDATE: sql`update`, DELETE: sql`delete` };

function functionOf(name: string, operation: string): Fragment {
  return qualified({ schema: SCHEMA, name: `${name}_${operation}` });
}

function bodyOf({ name, table }: ResolvedEventTrigger, { operation, watched, sent }: Capture): Fragment {
  const before = operation === 'INSERT' ? sql`null` : rowText(OLD, sent);
  const after = operation === 'DELETE' ? sql`null` : rowText(NEW, sent);
  const unchanged = operation === 'UPDATE' ? skipUnchanged(watched) : empty;
  return sql`
begin
${unchanged}  insert into pergola.event_log (trigger_name, schema_name, table_name, payload)
  values (${nameText(name)}, ${nameText(table.schema)}, ${nameText(table.name)}, json_build_object(
    'op', tg_op,
    'data', json_build_object('old', ${before}, 'new', ${after}),
    'session_variables', nullif(current_setting('engine.user', true), '')::json,
    'trace_context', nullif(current_setting('engine.trace', true), '')::json));
  return null;
end `;
}

/** Skips an update that changed nothing. It compares bytes, because not every type has an equality operator. PostgreSQL
 *  manual, "Row and Array Comparisons". */
function skipUnchanged(watched: readonly string[] | null): Fragment {
  const same = watched
    ? sql`row(${columnsOf(OLD, watched)})::record *= row(${columnsOf(NEW, watched)})::record`
    : sql`old *= new`;
  return sql`  if ${same} then return null; end if;\n`;
}

function columnsOf(row: Fragment, names: readonly string[]): Fragment {
  return join(
    names.map((name) => sql`${row}.${id(name)}`),
    comma,
  );
}

function rowText(row: Fragment, sent: Capture['sent']): Fragment {
  if (!sent) return sql`row_to_json(${row})`;
  if (sent.length === 0) return sql`'{}'::json`;
  const columns = sent.map(
    (column) => sql`${printed(sql`${row}.${id(column.name)}`, column)} as ${id(column.name)}`,
  );
  return sql`(select row_to_json(e) from (select ${join(columns, comma)}) e)`;
}

function printed(value: Fragment, { json, type }: NonNullable<Capture['sent']>[number]): Fragment {
  if (json === 'geojson') {
    const name = { schema: (type.base ?? type).schema, name: 'st_asgeojson' };
    return sql`${qualified(name)}(${value}, 15, 4)::json`;
  }
  if (json !== 'stringified') return value;
  return (type.base ?? type).element ? sql`${value}::text[]` : sql`${value}::text`;
}
