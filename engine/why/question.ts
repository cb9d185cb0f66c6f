/** The arguments of `explain_access` → the question: the role's session, its permissions as clauses, the rows, and what forbids the
 *  operation before any row is read.
 *  In: unvalidated names and values, the model. Out: AccessQuestion. Raises an ERRORS row for a name or value that is wrong.
 *  Pure. Not here: permissions (grants.ts), upserts (conflict.ts), asking the database (admin/explain-access.ts), the verdict
 *  (verdict.ts). */
import { withPath } from '../errors/engine-error.ts';
import type { Source } from '../metadata/schema/source.ts';
import { presetAssignments } from '../plan/assignment.ts';
import { accessOf } from '../resolve/access.ts';
import type { TableAccess } from '../resolve/model/access.ts';
import type { Leaf } from '../resolve/predicate.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import type { RowWrite } from '../sql/row-truth.ts';
import { variablesOf } from './clause-truth.ts';
import { type ConflictQuestion, conflictQuestion } from './conflict.ts';
import { type AccessField, explainedFields } from './fields.ts';
import {
  type AccessConditions,
  type AccessContext,
  type AccessRefusal,
  type AccessSubject,
  grantsFor,
  isUnset,
  refusalsOf,
  subjectOf,
} from './grants.ts';
import {
  type Args,
  assignedIn,
  columnOf,
  columnsIn,
  generatedIn,
  insertedIn,
  refuseUnfit,
  storedIn,
  undecidedIn,
  writtenNames,
} from './write.ts';

export type AccessQuestion = AccessConditions &
  Pick<AccessSubject, 'operation' | 'session' | 'table'> & {
    readonly access: TableAccess[keyof TableAccess];
    readonly refusals: readonly AccessRefusal[];
    /** The pg_class.oid of the table; null when its catalog is missing. */
    readonly oid: number | null;
    /** The session variables without which the request fails. */
    readonly neededVariables: readonly string[];
    /** The named fields, with whether the schema of the role has them. */
    readonly fields: readonly AccessField[];
    /** Present for an upsert. */
    readonly conflict: ConflictQuestion | null;
  };

/** Raises `sourceNotFound`, `tableNotTracked`, and errors of the arguments. */
export function accessQuestion(context: AccessContext, source: Source, args: Args): AccessQuestion {
  const subject = subjectOf(context, source, args);
  const { table, operation, session, catalog } = subject;
  for (const [i, name] of (args.columns ?? []).entries()) {
    withPath('columns', () => withPath(i, () => columnOf(table, name)));
  }
  refuseUnfit(operation, args);
  const inserted = conditionsOf(subject);
  const conflict = args.on_conflict ? conflictQuestion(subject, args.on_conflict, inserted) : null;
  const fields = explainedFields(context, subject, args.fields ?? []);
  const conditions = { ...inserted, ...conflict?.inserted };
  const named = operation === 'select' ? (args.columns ?? []) : writtenNames(operation, args);
  return {
    ...conditions,
    table,
    operation,
    session,
    access: accessOf(table, args.role)[operation],
    refusals: [
      ...refusalsOf(subject, operation, named),
      ...(conflict?.refusals ?? []),
      ...fields.flatMap(refusedField),
    ],
    fields,
    oid: catalog?.oid ?? null,
    neededVariables: [...new Set([conditions, conflict?.conditions].flatMap(neededBy))],
    conflict,
  };
}

/** Returns the refusal of a request that selects the field. */
export function refusedField({ field, reason }: AccessField): readonly AccessRefusal[] {
  return reason === undefined
    ? []
    : [{ kind: 'field_not_permitted', message: `field "${field}": ${reason}` }];
}

/** True for a question about fields alone, which names no row. */
export function isOfFields({ fields, key, where, operation = 'select' }: Args): boolean {
  return fields !== undefined && fields.length > 0 && operation === 'select' && !key && where === undefined;
}

function conditionsOf(subject: AccessSubject): AccessConditions {
  const { args, operation, table, session, scope, catalog } = subject;
  const access = accessOf(table, args.role)[operation];
  const presets = access && 'presets' in access ? access.presets : new Map<string, Leaf>();
  const isSet = ([, leaf]: readonly [string, Leaf]) => !isUnset(leaf, session);
  const set = new Map([...presets].filter(isSet));
  const unset = [...presets.keys()].filter((column) => !set.has(column));
  const chooser = { table, root: table, tables: scope.tables, reader: ADMIN_ROLE };
  const stored = operation === 'insert' ? null : storedIn(table, args, chooser);
  const write = writeOf(subject, set);
  const decided =
    write?.kind === 'insert' ? undecidedIn(catalog, write.values) : write ? generatedIn(catalog) : [];
  return {
    rows: { ...columnsIn(table), stored, write },
    grants: grantsFor(subject, operation),
    filter: access && 'filter' in access ? access.filter : null,
    check: access && 'check' in access ? access.check : null,
    where: null,
    presets,
    undecidedColumns: new Set([...decided, ...unset]),
  };
}

/** Returns the write; null for a read or a delete. `presets` have a value. */
function writeOf(
  { args, operation, table }: AccessSubject,
  presets: ReadonlyMap<string, Leaf>,
): RowWrite | null {
  if (operation === 'insert') {
    return { kind: 'insert', values: new Map([...insertedIn(table, args), ...presets]) };
  }
  if (operation !== 'update') return null;
  const access = accessOf(table, args.role).update;
  const preset = access ? presetAssignments(table, access, new Set()) : [];
  const given = assignedIn(table, args).filter(({ column }) => !presets.has(column));
  return { kind: 'update', set: [...given, ...preset.filter(({ column }) => presets.has(column))] };
}

/** Returns the session variables that a statement with these conditions needs. */
function neededBy(conditions: AccessConditions | undefined): readonly string[] {
  if (!conditions) return [];
  const { filter, check, where, presets } = conditions;
  return [
    ...[filter, check, where].flatMap((predicate) => (predicate ? variablesOf(predicate) : [])),
    ...[...presets.values()].flatMap((leaf) => (leaf.kind === 'session' ? [leaf.variable] : [])),
  ];
}
