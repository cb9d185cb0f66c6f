/** The upsert of an access question: what happens to the row that `on_conflict` finds. A row that conflicts is judged by the update
 *  permission, as a mutation does; without one the insert counts.
 *  In: `on_conflict`, the permissions, the values of the insert. Out: ConflictQuestion, and the key on which rows conflict.
 *  Raises an ERRORS row for a name or value that is wrong. Not here: the insert (question.ts), the verdict (verdict.ts).
 *  Reference: docs/reference/behaviour/permissions.md, docs/reference/behaviour/mutations.md. */
import { EngineError, fail, withPath } from '../errors/engine-error.ts';
import { printQualified } from '../metadata/schema/common.ts';
import { checkedBy, onConflictOf } from '../plan/insert.ts';
import { accessOf } from '../resolve/access.ts';
import { resolveBoolExp } from '../resolve/bool-exp.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { isGraphqlName } from '../resolve/names.ts';
import { type Leaf, type Predicate, TRUE } from '../resolve/predicate.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import type { ConflictKey } from '../sql/row-truth.ts';
import {
  type AccessConditions,
  type AccessRefusal,
  type AccessSubject,
  grantsFor,
  isUnset,
  refusalsOf,
} from './grants.ts';
import { type Args, columnOf, columnsIn, generatedIn } from './write.ts';

export type ConflictQuestion = {
  readonly constraint: string;
  readonly key: ConflictKey;
  /** The columns of the key whose value only the insert itself gives. */
  readonly undecidedKey: readonly string[];
  /** Empty when a row that conflicts is left as it is. */
  readonly updateColumns: readonly string[];
  readonly refusals: readonly AccessRefusal[];
  /** The conditions when no row conflicts, which replace those of a plain insert. */
  readonly inserted: Pick<AccessConditions, 'check' | 'grants'>;
  /** The conditions when a row conflicts. */
  readonly conditions: AccessConditions;
};

/** An upsert, and whether the database has a row that conflicts. */
export type FoundConflict = Pick<
  ConflictQuestion,
  'conditions' | 'constraint' | 'undecidedKey' | 'updateColumns'
> & {
  /** True when a row conflicts with the one to insert; null when only the insert itself could say. */
  readonly exists: boolean | null;
};

/** Returns the question about an upsert; `insert` has the conditions and the values of its insert. */
export function conflictQuestion(
  subject: AccessSubject,
  requested: NonNullable<Args['on_conflict']>,
  insert: AccessConditions,
): ConflictQuestion {
  const { table, args, session, catalog } = subject;
  const { constraint, update_columns: updateColumns = [] } = requested;
  const key = keyIn(table, constraint);
  refuseWrongColumns(table, updateColumns);
  const where = whereOf(subject, requested.where);
  const access = updateColumns.length > 0 ? accessOf(table, args.role).update : null;
  const upsert = access && onConflictOf(table, { constraint, updateColumns, where: TRUE }, () => access);
  const grants = upsert ? grantsFor(subject, 'update') : [];
  const { check, onConflict } = checkedBy(insert.check ?? TRUE, { table, onConflict: upsert });
  const isBoth = upsert !== null && table.isPartitioned;
  const values = insert.rows.write?.kind === 'insert' ? insert.rows.write.values : new Map<string, Leaf>();
  const presets = access?.presets ?? new Map<string, Leaf>();
  const isUnsetPreset = (column: string) => isUnset(presets.get(column)!, session);
  const writes = {
    updateColumns: upsert?.updateColumns ?? [],
    presets: (upsert?.presets ?? []).filter(({ column }) => !isUnsetPreset(column)),
  };
  return {
    constraint,
    key,
    undecidedKey: undecidedIn(key, insert.undecidedColumns),
    updateColumns,
    refusals: [
      ...(updateColumns.length > 0 ? refusalsOf(subject, 'update', updateColumns) : []),
      ...where.refusals,
    ],
    inserted: {
      check,
      grants: isBoth
        ? [...insert.grants, ...grants.map((each) => ({ ...each, filter: null }))]
        : insert.grants,
    },
    conditions: {
      rows: {
        ...columnsIn(table),
        stored: { kind: 'conflict', on: key },
        write: { kind: 'upsert', values, conflict: writes },
      },
      grants: [...insert.grants.map((each) => (isBoth ? each : { ...each, check: null })), ...grants],
      filter: access?.filter ?? null,
      check: onConflict?.check ?? null,
      where: upsert ? where.predicate : null,
      presets,
      undecidedColumns: new Set([
        ...generatedIn(catalog),
        ...updateColumns.filter((column) => insert.undecidedColumns.has(column)),
        ...[...presets.keys()].filter(isUnsetPreset),
      ]),
    },
  };
}

/** Returns the key of a constraint or an index that `on_conflict` can name. */
function keyIn(table: ResolvedTable, name: string): ConflictKey {
  const index = table.conflictIndexes.find((each) => each.name === name);
  if (index) return { kind: 'index', index, nullsConflict: false };
  const constraints = table.uniqueKeys.filter((each) => each.isConstraint && isGraphqlName(each.name));
  const key = constraints.find((each) => each.name === name);
  if (key) return { kind: 'columns', columns: key.columns, nullsConflict: false };
  const names = [...constraints, ...table.conflictIndexes].map((each) => each.name);
  const hint = names.length > 0 ? `use ${names.join(', ')}` : 'the table has none';
  const text = `"${name}" is no constraint that an upsert of ${printQualified(table.table)} can name; ${hint}`;
  return withPath('on_conflict', () => withPath('constraint', () => fail('parseFailed', { text })));
}

/** Returns the undecided columns that a key reads. The text of an index that contains a name counts as reading the column. */
function undecidedIn(key: ConflictKey, undecided: ReadonlySet<string>): readonly string[] {
  if (key.kind === 'columns') return key.columns.filter((column) => undecided.has(column));
  const text = [...key.index.on, key.index.where ?? ''].join(' ');
  return [...undecided].filter((column) => text.includes(column));
}

function refuseWrongColumns(table: ResolvedTable, names: readonly string[]): void {
  withPath('on_conflict', () =>
    withPath('update_columns', () => {
      for (const [i, name] of names.entries()) {
        withPath(i, () => columnOf(table, name));
        if (names.indexOf(name) !== i) {
          withPath(i, () => fail('parseFailed', { text: `column "${name}" is given twice` }));
        }
      }
    }),
  );
}

type ConflictWhere = { readonly predicate: Predicate | null; readonly refusals: readonly AccessRefusal[] };

/** Returns the condition as the role may use it, or what refuses it. Raises the error of a condition that is wrong for every role. */
function whereOf({ table, scope, args }: AccessSubject, where: unknown): ConflictWhere {
  if (where === undefined || where === null) return { predicate: null, refusals: [] };
  const resolve = (reader: string) =>
    resolveBoolExp(where, { table, root: table, tables: scope.tables, reader });
  withPath('on_conflict', () => withPath('where', () => resolve(ADMIN_ROLE)));
  try {
    return { predicate: resolve(args.role), refusals: [] };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const message = `where of on_conflict: ${error.messageIn('newer')}`;
    return { predicate: null, refusals: [{ kind: 'column_not_permitted', message }] };
  }
}
