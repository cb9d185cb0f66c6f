/** Conditions of permissions: the tree of a BoolExp → Predicate over a table, checked against its columns and relationships.
 *  In: BoolExpPart, parsed (metadata/bool-exp.ts) or as written. Out: Predicate with leaves for values. Raises an ERRORS row with the path into the condition.
 *  A relationship in a permission reaches every related row: the permission of the role on the target is not applied. In a
 *  condition of a request (`reader`) it is applied, and columns that the role may not read are refused.
 *  Spec: BoolExp; grammar: docs/reference/behaviour/operators.md. */

import {
  castOf,
  isOffered,
  OPERATORS,
  type OperandFields,
  type OperatorName,
  type OperatorRow,
  operandFieldType,
  operandOf,
  operandType,
  operatorOfRule,
  RULE_OPERATORS,
} from '../catalog/operators.ts';
import { scalarOf } from '../catalog/scalars.ts';
import { arrayOf, baseType, builtinType, type PgType } from '../catalog/types.ts';
import { fail, withPath, withSteps } from '../errors/engine-error.ts';
import { each } from '../errors/together.ts';
import { isRecord, type JsonRecord, nameOfJson } from '../json/value.ts';
import {
  type BoolExpPart,
  COLUMN_OPERATORS,
  CONNECTIVES,
  comparisonsOf,
  type FieldPart,
  operandColumn,
  parseBoolExp,
  partBehind,
  type WrittenComparison,
} from '../metadata/bool-exp.ts';
import { printQualified, type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';
import type { RemoteRelationship } from '../metadata/schema/relationship.ts';
import { readAccess } from './access.ts';
import { checkEnumValue } from './enum.ts';
import { callBeside } from './function-call.ts';
import type { Lookup } from './memo.ts';
import { noColumn, noTable } from './misnamed.ts';
import type { ResolvedColumn } from './model/column.ts';
import type { ResolvedComputedField } from './model/function.ts';
import type { ResolvedTable } from './model/table.ts';
import {
  and,
  type ColumnRef,
  comparison,
  type FunctionCall,
  joinedPair,
  type Leaf,
  not,
  type Operand,
  or,
  type Predicate,
  TRUE,
  visibleIfOf,
} from './predicate.ts';
import { ADMIN_ROLE, SESSION_PREFIX } from './session.ts';
import { leafOf, listLeafOf } from './value.ts';

/** The tables and names that a condition may refer to. */
export type BoolExpScope = {
  /** The table that the keys of the condition belong to. */
  readonly table: ResolvedTable;
  /** The table of the permission, which `["$", column]` refers to. */
  readonly root: ResolvedTable;
  /** All tables of the source, for `_exists` and relationships. */
  readonly tables: Lookup<ResolvedTable>;
  /** The relationships that lead out of the source, by qualifiedKey of the table. */
  readonly remote?: Lookup<readonly RemoteRelationship[]>;
  /** The tables of all sources, by `tableKeyIn`. */
  readonly everywhere?: Lookup<ResolvedTable>;
  /** The prefix of session variables in documents, when it is not SESSION_PREFIX. */
  readonly prefix?: string | undefined;
  /** The role of a request whose condition this is; absent for a permission. Texts of a request are never session variables. */
  readonly reader?: string;
};

export function resolveBoolExp(value: unknown, scope: BoolExpScope): Predicate {
  return resolvePart(parseBoolExp(value), scope);
}

export function resolvePart(part: BoolExpPart, scope: BoolExpScope): Predicate {
  return withSteps(part.steps, () => conditionOf(part, scope));
}

function conditionOf(part: BoolExpPart, scope: BoolExpScope): Predicate {
  switch (part.kind) {
    case 'all':
      return and(...each(part.parts, (inner) => resolvePart(inner, scope)));
    case 'any':
      return or(...each(part.parts, (inner) => resolvePart(inner, scope)));
    case 'not':
      return not(resolvePart(part.part, scope));
    case 'exists':
      return exists(part, scope);
    case 'field':
      return fieldCondition(part, scope);
    case 'no-object':
      return noObject(part.value);
    case 'too-deep':
      return fail('unexpectedPayload', { text: 'the condition is nested too deeply' });
  }
}

function fieldCondition(part: FieldPart, scope: BoolExpScope): Predicate {
  const { name, value } = part;
  const column = scope.table.columnByName.get(name);
  if (column) return columnCondition({ ...column, ...readColumn(column, scope.table, scope) }, value, scope);
  const field = scope.table.computedFields.get(name);
  if (field) return computedCondition(field, part, scope);
  const relationship = scope.table.relationships.get(name);
  if (!relationship) {
    const remote = scope.remote?.get(qualifiedKey(scope.table.table))?.find((each) => each.name === name);
    return remote ? remoteCondition(remote, part, scope) : noField(name, scope);
  }
  const target = scope.tables.get(qualifiedKey(relationship.join.table));
  if (!target) return fail('notSupported', { text: `relationship "${name}" leads to a native query` });
  const where = resolvePart(partBehind(part), { ...scope, table: target });
  return { kind: 'related', join: relationship.join, where, ...filterOn(target, scope) };
}

/** Raises `fieldNotExists`. */
function noField(name: string, { table, remote }: BoolExpScope): never {
  const known = () => [
    ...table.columnByName.keys(),
    ...table.computedFields.keys(),
    ...table.relationships.keys(),
    ...(remote?.get(qualifiedKey(table.table)) ?? []).map(({ name }) => name),
    ...[...CONNECTIVES.keys()].filter((key) => key.startsWith('_')),
  ];
  return fail('fieldNotExists', { name }, { misnamed: { name, known } });
}

/** Returns the operators of a condition on a column, as a permission spells them. */
function ruleOperators({ scalar }: ComparedColumn): readonly string[] {
  const offered = RULE_OPERATORS.filter((name) => isOffered(OPERATORS[name], scalar));
  return [...offered, ...Object.keys(COLUMN_OPERATORS).map((name) => `_${name}`), '_cast'];
}

/** Returns the key of a table in `BoolExpScope.everywhere`. */
export function tableKeyIn(source: string, table: QualifiedName): string {
  return JSON.stringify([source, qualifiedKey(table)]);
}

/** Returns the condition on rows of another source: the joined columns are those of one of the rows. The rows are read by columns of
 *  their own table only. */
function remoteCondition(
  { name, definition }: RemoteRelationship,
  part: FieldPart,
  scope: BoolExpScope,
): Predicate {
  const { to_source: to } = definition;
  if (!to) return fail('notSupported', { text: `a permission cannot ask the remote relationship "${name}"` });
  const found = scope.everywhere?.get(tableKeyIn(to.source, to.table));
  if (!found) return fail('tableNotTracked', { table: printQualified(to.table) });
  const pairs = Object.entries(to.field_mapping).map(([own, theirs]) => {
    const left = scope.table.columnByName.get(own) ?? noColumn(own, scope.table);
    if (!found.columnByName.has(theirs)) noColumn(theirs, found);
    return { left: { column: left.name, type: left.type }, theirs };
  });
  const target = { ...found, relationships: new Map(), computedFields: new Map() };
  const { prefix } = scope;
  const where = resolvePart(partBehind(part), { table: target, root: target, tables: new Map(), prefix });
  const columns = pairs.map(({ theirs }) => theirs);
  const from = { kind: 'fetched', source: to.source, table: to.table, columns, where } as const;
  const [first, ...more] = pairs;
  // Without a value there is no row, so that the opposite of the condition holds.
  const present = pairs.map(({ left }): Predicate => ({ kind: 'is-null', left, isNull: false }));
  const isOne =
    first && more.length === 0
      ? comparison(first.left, '_in', { ...from, type: arrayOf(baseType(first.left.type)) })
      : isRowOf(
          pairs.map(({ left }) => left),
          { ...from, type: builtinType('json') },
          to.table,
        );
  return and(...present, isOne);
}

/** Returns the condition that the columns together are one of the rows of `rows`, a list of lists as JSON. */
function isRowOf(left: readonly ColumnRef[], rows: Leaf, table: QualifiedName): Predicate {
  const members = left.map((_, i) => `item ->> ${i} as "${i}"`).join(', ');
  const code = [`select ${members} from pg_catalog.json_array_elements(`, rows, ') item'];
  const columns = left.map(({ type }, i) => ({ column: String(i), type: baseType(type) }));
  const mapping = left.map(({ column, type }, i) =>
    joinedPair({ name: column, type }, { name: String(i), type }),
  );
  return {
    kind: 'related',
    join: { table, mapping, isUnique: false, from: { code, columns } },
    where: TRUE,
  };
}

/** Returns the filter of the reader on a table; none for the condition of a permission. */
function filterOn(table: ResolvedTable, { reader }: BoolExpScope): { readonly filter?: Predicate } {
  if (reader === undefined) return {};
  const { filter } = readAccess(table, reader);
  return filter.kind === 'true' ? {} : { filter };
}

/** Returns the rows in which the reader sees the column. Raises `columnNotPermitted`. */
function readColumn(
  { name }: Pick<ResolvedColumn, 'name'>,
  table: ResolvedTable,
  { reader }: BoolExpScope,
): { readonly visibleIf?: Predicate } {
  if (reader === undefined) return {};
  const { columns, cells } = readAccess(table, reader);
  if (!columns.has(name)) fail('columnNotPermitted', { type: 'select', column: name, role: reader });
  return visibleIfOf({ visibleIf: cells.columns.get(name) });
}

function readComputed(field: ResolvedComputedField, scope: BoolExpScope): { readonly visibleIf?: Predicate } {
  const { reader, table } = scope;
  if (reader === undefined) return {};
  const { computedFields, cells } = readAccess(table, reader);
  if (computedFields && !computedFields.has(field.name)) {
    fail('columnNotPermitted', { type: 'select', column: field.name, role: reader });
  }
  return visibleIfOf({ visibleIf: cells.computedFields.get(field.name) });
}

/** Returns the condition on a computed field that takes only the row: its value is compared, or a returned row satisfies it. */
function computedCondition(field: ResolvedComputedField, part: FieldPart, scope: BoolExpScope): Predicate {
  const call = plainCall(field, scope.table);
  if (field.returns.kind === 'scalar') {
    const { type, scalar } = field.returns;
    const read = readComputed(field, scope);
    return columnCondition({ name: field.name, type, scalar, call, ...read }, part.value, scope);
  }
  const target = scope.tables.get(qualifiedKey(field.returns.table))!;
  const where = resolvePart(partBehind(part), { ...scope, table: target });
  return { kind: 'called', call, where, ...filterOn(target, scope) };
}

function plainCall(field: ResolvedComputedField, table: ResolvedTable): FunctionCall {
  const wanted = field.arguments.find(({ kind, hasDefault }) => kind === 'user' && !hasDefault);
  if (wanted) {
    fail('notSupported', {
      text: `computed field "${field.name}" needs the argument "${wanted.graphqlName}", and a permission gives none`,
    });
  }
  return callBeside(field, table);
}

type Exists = Extract<BoolExpPart, { readonly kind: 'exists' }>;

function exists({ table: written, where }: Exists, scope: BoolExpScope): Predicate {
  const { reader = ADMIN_ROLE } = scope;
  if (reader !== ADMIN_ROLE) fail('notSupported', { text: 'a request cannot ask for rows of another table' });
  const name = withPath('_table', () => tableName(written));
  const table = scope.tables.get(qualifiedKey(name));
  if (!table) return noTable(name, scope.tables, ['_table']);
  return { kind: 'exists', table: table.table, where: resolvePart(where, { ...scope, table }) };
}

function tableName(value: unknown): QualifiedName {
  if (typeof value === 'string') return { schema: 'public', name: value };
  const { schema = 'public', name } = objectOf(value);
  if (typeof schema === 'string' && typeof name === 'string') return { schema, name };
  return fail('parseFailed', { text: 'parsing QualifiedTable failed, expected a table name' });
}

function columnCondition(column: ComparedColumn, value: unknown, scope: BoolExpScope): Predicate {
  if (scope.reader !== undefined && column.scalar.family === 'json' && !comparesNull(value)) {
    fail('jsonColumnInWhere', {});
  }
  return comparisons(column, comparisonsOf(value, prefixIn(scope) !== null), scope);
}

/** True for `_is_null`, the only operator of a json column in a request. */
function comparesNull(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).every((key) => /^[_$]is_null$/.test(key));
}

/** Returns the prefix of texts that are session variables; null in the condition of a request, where none are. */
function prefixIn({ reader, prefix = SESSION_PREFIX }: BoolExpScope): string | null {
  return reader === undefined ? prefix : null;
}

function comparisons(
  column: ComparedColumn,
  all: readonly WrittenComparison[],
  scope: BoolExpScope,
): Predicate {
  return and(...each(all, (one) => withSteps(one.steps, () => comparisonWith(column, one, scope))));
}

function comparisonWith(own: ComparedColumn, written: WrittenComparison, scope: BoolExpScope): Predicate {
  const { operand } = written;
  if (written.kind === 'equal') {
    checkEnumValue(own, operand, prefixIn(scope));
    return compare(own, '_eq', leafOf(operand, operandType('same', own.type), prefixIn(scope)));
  }
  // In a permission, a column of an enum is the text that it is in the database.
  const column = own.enum ? { ...own, scalar: scalarOf(own.type) } : own;
  return written.kind === 'column'
    ? compare(column, written.operator, columnOperand(column, operand, scope))
    : operation(column, written.key, operand, scope);
}

function operation(column: ComparedColumn, key: string, value: unknown, scope: BoolExpScope): Predicate {
  if (key === '_cast' || key === '$cast') return castCondition(column, value, scope);
  const operator = operatorOfRule(key);
  if (!operator)
    return fail(
      'unknownOperator',
      { name: key },
      { misnamed: { name: key, known: () => ruleOperators(column) } },
    );
  refuseOtherFamilies(column, OPERATORS[operator]);
  if (operator === '_is_null') {
    if (typeof value !== 'boolean') {
      const text = `parsing Bool failed, expected Boolean, but encountered ${nameOfJson(value)}`;
      return fail('parseFailed', { text });
    }
    return { kind: 'is-null', left: refTo(column), isNull: value };
  }
  const row: OperatorRow = OPERATORS[operator];
  if (row.needs === 'equality') {
    for (const item of Array.isArray(value) ? value : [value]) checkEnumValue(column, item, prefixIn(scope));
  }
  const form = operandOf(operator, column.scalar.family);
  if (typeof form === 'object')
    return compare(column, operator, argumentsOf(form, value, column.type, scope));
  const type = operandType(form, column.type);
  const isList = type.element !== null && form !== 'same';
  const right = isList
    ? listLeafOf(value, type.element, prefixIn(scope))
    : leafOf(value, type, prefixIn(scope));
  return compare(column, operator, right);
}

/** Resolves `{geography: {_st_d_within: …}}`: conditions on the value cast to another type. */
function castCondition(column: ComparedColumn, value: unknown, scope: BoolExpScope): Predicate {
  const { scalar, type } = column;
  const to = castOf(scalar.family, type);
  const entries = Object.entries(objectOf(value));
  return and(
    ...entries.map(([name, item]) => {
      const isAllowed = to && (name === scalarOf(to).name || name === to.name);
      if (!isAllowed) {
        return fail('unexpectedPayload', {
          text: `cannot cast column of type "${type.name}" to type "${name}"`,
        });
      }
      const as = { ...column, type: to, scalar: scalarOf(to), cast: to };
      return withPath(name, () => comparisons(as, comparisonsOf(objectOf(item), false), scope));
    }),
  );
}

/** Returns the values of an operator that takes several named values. */
function argumentsOf({ fields }: OperandFields, value: unknown, own: PgType, scope: BoolExpScope): Operand {
  const given = objectOf(value);
  const values = Object.entries(fields).map(([name, row]) => {
    const item = given[name] ?? row.standard ?? null;
    if (item === null && row.isRequired) fail('parseFailed', { text: `key "${name}" not found` });
    return withPath(name, () => leafOf(item, operandFieldType(row, own), prefixIn(scope)));
  });
  return { kind: 'arguments', values };
}

/** A column or a computed field, possibly cast. */
type ComparedColumn = Pick<ResolvedColumn, 'name' | 'type' | 'scalar'> &
  Partial<Pick<ResolvedColumn, 'enum'>> &
  Pick<ColumnRef, 'call' | 'cast' | 'isComputed' | 'visibleIf'>;

/** Returns the operand `column`, a column of the same row, or `["$", column]`, a column of the table of the permission. */
function columnOperand(left: ComparedColumn, value: unknown, scope: BoolExpScope): Operand {
  const { name, isRoot } = operandColumn(value) ?? fail('columnOperandNotText', {});
  const table = isRoot ? scope.root : scope.table;
  const right = table.columnByName.get(name);
  if (!right) return noColumn(name, table);
  // Operands are not masked, so a column that is visible only in some rows cannot be one.
  if (readColumn(right, table, scope).visibleIf)
    fail('notSupported', { text: `${name} is not shown in every row` });
  if (!areComparable(baseType(left.type), baseType(right.type))) {
    fail('incompatibleColumns', { left: left.name, right: right.name });
  }
  return { kind: 'column', column: right.name, scope: isRoot ? 'root' : 'row', type: right.type };
}

/** True when Postgres can compare the two types, which are no domains, with `=`. */
function areComparable(left: PgType, right: PgType): boolean {
  const { family } = scalarOf(left);
  if (family !== scalarOf(right).family) return false;
  if (left.element && right.element) return left.element.name === right.element.name;
  if (family !== 'other' || left.name === right.name) return true;
  return COMPARABLE_TYPES.some((types) => types.includes(left.name) && types.includes(right.name));
}

/** Different types without a family that Postgres compares. PostgreSQL manual, "Date/Time Functions and Operators",
 *  "Network Address Functions and Operators", "Bit String Functions and Operators". */
const COMPARABLE_TYPES: readonly (readonly string[])[] = [
  ['date', 'timestamp', 'timestamptz'],
  ['time', 'timetz'],
  ['inet', 'cidr'],
  ['bit', 'varbit'],
];

function refuseOtherFamilies({ scalar, type }: ComparedColumn, row: OperatorRow): void {
  if (isOffered(row, scalar)) return;
  const types = row.families === 'any' ? `those that have an ${row.needs}` : row.families.join(', ');
  fail('operatorNotForType', { type: nameOf(type), types });
}

function nameOf(type: PgType): string {
  return type.element ? `${nameOf(type.element)}[]` : type.name;
}

function compare(column: ComparedColumn, operator: OperatorName, right: Operand): Predicate {
  return comparison(refTo(column), operator, right);
}

function refTo({ name, type, call, cast, isComputed, visibleIf }: ComparedColumn): ColumnRef {
  return {
    column: name,
    type,
    ...(call ? { call } : {}),
    ...(cast ? { cast } : {}),
    ...(isComputed ? { isComputed } : {}),
    ...visibleIfOf({ visibleIf }),
  };
}

function objectOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : noObject(value);
}

function noObject(value: unknown): never {
  const text = `parsing Object failed, expected Object, but encountered ${nameOfJson(value)}`;
  return fail('parseFailed', { text });
}
