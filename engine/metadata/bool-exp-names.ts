/** The names in boolean expressions: columns, relationships, computed fields and tables, and expressions with other names.
 *  The caller says which fields a table has (`NameWalk.fieldOf`). Pure, total on any JSON.
 *  Not here: the grammar (bool-exp.ts), the names in objects (names.ts). */
import type { PathStep } from '../errors/engine-error.ts';
import { isRecord } from '../json/value.ts';
import {
  type BoolExpPart,
  comparisonsOf,
  type FieldPart,
  operandColumn,
  parseBoolExp,
  partBehind,
  qualifiedOf,
} from './bool-exp.ts';
import type { QualifiedName } from './schema/common.ts';
import type { FieldKind, MemberKind, NameKind, QualifiedKind } from './schema/marks.ts';
import { mapEntries, mapItems } from './walk-marks.ts';

/** The rows that a name belongs to. The table is null for rows of no table, and undefined when it is not known. */
export type SourceRows = { readonly source: string; readonly table: QualifiedName | null | undefined };
export type SourceTable = { readonly source: string; readonly table: QualifiedName };

/** A name, and where it belongs. `unknown` is a key of an expression over a table that is not known. */
export type Name = { readonly isOwn: boolean; readonly source: string } & (
  | { readonly kind: QualifiedKind; readonly name: QualifiedName }
  | { readonly kind: MemberKind; readonly table: QualifiedName; readonly name: string }
  | { readonly kind: Exclude<NameKind, QualifiedKind | MemberKind> | 'unknown'; readonly name: string }
);

/** A field of a table that an expression follows. `target` is undefined when only a database knows it, or the field has one value. */
export type FollowedField = { readonly kind: FieldKind; readonly target: SourceTable | undefined };

/** A walk over names. */
export type NameWalk = {
  /** Returns the relationship or computed field of a table; undefined for a column. */
  readonly fieldOf: (source: string, table: QualifiedName, name: string) => FollowedField | undefined;
  /** Returns the name that replaces a name; undefined to keep it. */
  readonly rename: (name: Name) => string | QualifiedName | undefined;
  /** The texts of the names that may be replaced. A table or an expression in which none of them occurs is kept without a walk. Absent:
   *  any name may be replaced, also one that a missing member stands for. */
  readonly texts?: readonly string[] | undefined;
};

/** A name in an expression. `path` leads to the key that it is, or to the value that `printed` returns with another name. */
type NameUse = { readonly name: Name; readonly path: Path; readonly printed?: (next: unknown) => unknown };
type Path = readonly PathStep[];

/** Renames in an expression over rows. An expression without a renamed name is returned itself. */
export function renameInBoolExp(expression: unknown, rows: SourceRows, walk: NameWalk): unknown {
  if (!mayName(expression, walk)) return expression;
  const edits = new Map<string, readonly [use: NameUse, next: unknown]>();
  for (const use of namesInBoolExp(expression, rows, walk.fieldOf)) {
    const next = walk.rename(use.name);
    if (next !== undefined) edits.set(JSON.stringify(use.path), [use, next]);
  }
  const edited = (value: unknown, path: Path): unknown => {
    if (Array.isArray(value)) return mapItems(value, (item, i) => edited(item, [...path, i]));
    if (!isRecord(value)) return value;
    return mapEntries(value, (key, item) => {
      const inner = [...path, key];
      const [use, next] = edits.get(JSON.stringify(inner)) ?? [];
      if (use?.printed) return [key, use.printed(next)];
      return [use ? String(next) : key, edited(item, inner)];
    });
  };
  return edits.size === 0 ? expression : edited(expression, []);
}

/** Returns the names in an expression over rows. */
export function namesInBoolExp(
  expression: unknown,
  rows: SourceRows,
  fieldOf: NameWalk['fieldOf'],
): readonly NameUse[] {
  return usesIn(parseBoolExp(expression), { rows, root: rows, path: [], fieldOf });
}

/** The rows that keys are fields of, and those that `c` in the operand `["$", c]` is a column of. */
type At = Pick<NameWalk, 'fieldOf'> & {
  readonly rows: SourceRows;
  readonly root: SourceRows;
  readonly path: Path;
};

function usesIn(exp: BoolExpPart, outer: At): readonly NameUse[] {
  const at = { ...outer, path: [...outer.path, ...exp.steps] };
  switch (exp.kind) {
    case 'all':
    case 'any':
      return exp.parts.flatMap((part) => usesIn(part, at));
    case 'not':
      return usesIn(exp.part, at);
    case 'exists': {
      const table = qualifiedOf(exp.table);
      if (!table) return [];
      const { source } = at.rows;
      const name = { kind: 'table', isOwn: false, source, name: table } as const;
      const use = { name, path: [...at.path, '_table'], printed: (next: unknown) => next };
      return [use, ...usesIn(exp.where, { ...at, rows: { source, table } })];
    }
    case 'field':
      return usesInField(exp, at);
    default:
      return [];
  }
}

function usesInField(part: FieldPart, at: At): readonly NameUse[] {
  const { path, rows } = at;
  const { source, table } = rows;
  if (table === null) return [];
  const behind = (there: Partial<At>) => usesIn(partBehind(part), { ...at, ...there });
  const of = { isOwn: false, source, name: part.name };
  if (!table) return [{ name: { ...of, kind: 'unknown' }, path }, ...behind({})];
  const field = at.fieldOf(source, table, part.name);
  const use = { name: { ...of, kind: field?.kind ?? 'column', table }, path } as const;
  const there = field?.target ?? { source, table: undefined };
  // Rows of another source are read by columns of their own table only.
  const isRemote = field?.kind === 'remote_relationship';
  if (isRemote) return [use, ...behind({ rows: there, root: there, fieldOf: () => undefined })];
  // A computed field without a target has a value, or returns rows of a table that is not known.
  const inside = field ? behind({ rows: there }) : [];
  return [use, ...inside, ...(field?.target ? [] : operandsIn(part, at))];
}

/** Returns the columns that the value of a field is compared with. */
function operandsIn({ value }: FieldPart, { rows, root, path }: At): readonly NameUse[] {
  return comparisonsOf(value).flatMap(({ kind, operand, steps }) => {
    const column = kind === 'column' ? operandColumn(operand) : undefined;
    const { source, table } = column?.isRoot ? root : rows;
    if (!column || !table) return [];
    const inList = column.isRoot ? ['$'] : [];
    const printed = (next: unknown) => (Array.isArray(operand) ? [...inList, next] : next);
    const name = { kind: 'column', isOwn: false, source, table, name: column.name } as const;
    return [{ name, path: [...path, ...steps], printed }];
  });
}

/** True when a key or text in the value contains a text that the walk replaces. */
export function mayName(value: unknown, { texts }: Pick<NameWalk, 'texts'>): boolean {
  return texts === undefined || containsSome(value, texts);
}

function containsSome(value: unknown, texts: readonly string[]): boolean {
  if (typeof value === 'string') return texts.some((text) => value.includes(text));
  if (Array.isArray(value)) return value.some((item) => containsSome(item, texts));
  if (!isRecord(value)) return false;
  for (const key in value) {
    if (containsSome(key, texts) || containsSome(value[key], texts)) return true;
  }
  return false;
}

/** Returns the new name of a name that is a text. */
export function renamed(name: Extract<Name, { readonly name: string }>, walk: NameWalk): string {
  const next = walk.rename(name);
  return typeof next === 'string' ? next : name.name;
}
