/** A selection on a connection → a page: which rows, in which order, between which cursors, and which parts of the page the
 *  response holds. The order always ends with the primary key, so every cursor identifies one row. A role's row limit is the
 *  largest page. Raises `validationFailed` for arguments that exclude each other. Not here: the content of cursors
 *  (cursor.ts). Reference: docs/reference/behaviour/relay.md. */
import type { GraphQLObjectType } from 'graphql';
import { fail, withPath } from '../errors/engine-error.ts';
import { own as ownMember } from '../metadata/own.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import type { FunctionCall, VisibleIf } from '../resolve/predicate.ts';
import { fieldOrigin } from '../schema/origin.ts';
import { readArguments } from './arguments.ts';
import type { PlanContext, SelectedField, SelectedNodes } from './context.ts';
import { countOf } from './count.ts';
import { planCursor } from './cursor.ts';
import type { Arguments } from './input.ts';
import { cursorFacts, type NamedOrder, planNamedOrder } from './order-by.ts';
import type { ConnectionField, ConnectionPage, EdgeField, PageInfoField, Select } from './query-types.ts';
import { objectTypeOf, planMembers, planRowArguments, planSelection } from './table.ts';

/** Plans a page over rows of the table, or over the rows that `from` returns. */
export function planConnection(
  table: ResolvedTable,
  at: SelectedNodes,
  context: PlanContext,
  from?: FunctionCall,
): ConnectionPage {
  const given = readArguments(at, context);
  const page = withPath('args', () => pageOf(table, given, context, from));
  const select = { ...page.select, ...(from ? { from } : {}) };
  const output = planMembers(at, context, connectionField);
  return { ...page, select, output };
}

function pageOf(
  table: ResolvedTable,
  given: Arguments,
  context: PlanContext,
  from: FunctionCall | undefined,
): Omit<ConnectionPage, 'output'> {
  const after = textIn(given, 'after');
  const before = textIn(given, 'before');
  const [first, last] = ['first', 'last'].map((name) =>
    withPath(name, () => countOf(given.get(name), context)),
  ) as [string | null, string | null];
  if (first !== null && last !== null) refuseBoth('first', 'last');
  if (after && before) refuseBoth('after', 'before');
  const { limit, ...rowArguments } = planRowArguments(table, given, context, from);
  const { order_by } = table.naming.names;
  const named = withPath(order_by, () => planNamedOrder(given.get(order_by), context));
  const order = wholeOrder(named, rowArguments, table);
  const keys = order.map(({ names, type, isNullable }) => ({ names, type, isNullable }));
  const cursor = after ?? before;
  const size = first ?? last;
  return {
    select: {
      table: table.table,
      fields: [],
      ...rowArguments,
      orderBy: order.map(({ item }) => item),
      limit: null,
    },
    keys,
    bound: cursor && {
      side: after ? 'after' : 'before',
      values: planCursor(cursor, keys, context),
    },
    size: size === null ? limit : Math.min(Number(size), limit ?? Number.MAX_SAFE_INTEGER),
    isFromEnd: last !== null,
    ...(order.some(({ mayRaise }) => mayRaise) ? { mayRaise: true } : {}),
  };
}

function textIn(given: Arguments, name: string) {
  const input = given.get(name);
  return input?.kind === 'leaf' ? input : null;
}

function refuseBoth(one: string, other: string): never {
  return fail('validationFailed', { text: `"${one}" and "${other}" are not allowed at once` });
}

/** Returns the whole order of a page: the requested values, each once, then the columns of `distinct_on` and the key. The key is
 *  never masked, so that a cursor stands for one row. */
function wholeOrder(
  named: readonly NamedOrder[],
  { distinctOn, visibleIf = {} }: Pick<Select, 'distinctOn' | 'visibleIf'>,
  table: ResolvedTable,
): readonly NamedOrder[] {
  const own = (name: string, condition: VisibleIf[string] | undefined): NamedOrder => {
    const column = table.columnByName.get(name)!;
    const visibility = condition ? { visibleIf: condition } : {};
    const item = { path: [], column: name, direction: 'asc', nulls: 'last', ...visibility } as const;
    const isNullable = column.isNullable || condition !== undefined;
    return { item, names: [column.graphqlName], ...cursorFacts(column), isNullable };
  };
  const distinct = distinctOn.map((name) => own(name, ownMember(visibleIf, name)));
  const key = (table.primaryKey ?? []).map(({ name }) => own(name, undefined));
  const order = new Map<string, NamedOrder>();
  for (const each of [...named, ...distinct, ...key]) {
    const known = order.get(JSON.stringify(each.names));
    // A function may be called with different arguments, and a key column may be masked where it was requested.
    const isOther = known && identityOf(known) !== identityOf(each);
    // A space cannot be part of another name.
    const names = isOther ? [...each.names.slice(0, -1), `${each.names.at(-1)} ${order.size}`] : each.names;
    if (!known || isOther) order.set(JSON.stringify(names), { ...each, names });
  }
  return [...order.values()];
}

/** Returns what distinguishes two values of the order that have one name. */
function identityOf({ item: { call, visibleIf } }: NamedOrder): string {
  return JSON.stringify([call, visibleIf]);
}

function connectionField(
  { alias, nodes, field }: SelectedField,
  type: GraphQLObjectType,
  context: PlanContext,
): ConnectionField {
  if (!field) return { kind: 'constant', alias, json: JSON.stringify(type.name) };
  return fieldOrigin(field).kind === 'edges'
    ? { kind: 'edges', alias, fields: planMembers({ field, nodes }, context, edgeField) }
    : { kind: 'page-info', alias, fields: planMembers({ field, nodes }, context, pageInfoField) };
}

function pageInfoField({ alias, field }: SelectedField, type: GraphQLObjectType): PageInfoField {
  const origin = field && fieldOrigin(field);
  return origin?.kind === 'page-info-part'
    ? { kind: origin.part, alias }
    : { kind: 'constant', alias, json: JSON.stringify(type.name) };
}

function edgeField(
  { alias, nodes, field }: SelectedField,
  type: GraphQLObjectType,
  context: PlanContext,
): EdgeField {
  if (!field) return { kind: 'constant', alias, json: JSON.stringify(type.name) };
  const origin = fieldOrigin(field);
  if (origin.kind !== 'edge-node') return { kind: 'cursor', alias };
  const { fields } = planSelection(origin.table, objectTypeOf(field), nodes, context);
  return { kind: 'node', alias, fields };
}
