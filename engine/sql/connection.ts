/** ConnectionPage → a query of one column and one row: a page of rows as a JSON object with cursors. The query reads one row
 *  more than the page has, in the direction of the order, to find whether more rows follow. A separate query finds whether
 *  there are rows on the other side of the cursor. An index can find the page when no value of the order is nullable and all
 *  have one direction; otherwise rows are compared one by one. Not here: the form of cursors (opaque.ts). Reference:
 *  docs/reference/behaviour/relay.md. */
import { operatorSchema } from '../catalog/operators.ts';
import type {
  ConnectionField,
  ConnectionPage,
  CursorKey,
  EdgeField,
  Field,
  PageInfoField,
} from '../plan/query-types.ts';
import { allOf, behind, isTrue, whereClause } from './bool-exp.ts';
import { comma, empty, type Fragment, id, integer, join, param, sql } from './fragment.ts';
import { Joins } from './join.ts';
import { concatenate, expression, joinedRows, jsonArray, jsonObject, type Piece, text } from './json.ts';
import { cursor } from './opaque.ts';
import { compared, EQUALS } from './operators.ts';
import { carriedColumns, directed, type OrderTerm, orderClause, orderTerms, outside } from './order-by.ts';
import { type Correlation, filteredTable, limitedTable, type RowPieces } from './rows.ts';
import type { Aliases } from './scope.ts';

/** The column with the number of a row in the page, which may have one row too many. */
const NUMBER = 'number in page';

export function connectionQuery(
  page: ConnectionPage,
  aliases: Aliases,
  rowPieces: RowPieces,
  origin: Correlation = {},
): Fragment {
  const rows = pageRows(page, aliases, origin);
  const joins = new Joins(aliases);
  const json = concatenate(
    jsonObject(
      page.output.map((field) => ({
        key: field.alias,
        value: fieldPieces(field, page, rows, (fields) => rowPieces(fields, rows.row, joins)),
      })),
    ),
  );
  // A query of constants only would return them once per row.
  const isOverRows = page.output.some((field) => isAboutRows(field, page));
  return isOverRows
    ? sql`select ${json} from ${rows.from()}${joins.clauses()}${rows.where}`
    : sql`select ${json}`;
}

/** The rows to page through, with the terms of their order. */
type Base = {
  readonly row: string;
  /** Composed after what reads the rows. */
  readonly from: () => Fragment;
  readonly conditions: readonly Fragment[];
  readonly terms: readonly OrderTerm[];
};

function baseOf({ select }: ConnectionPage, aliases: Aliases, origin: Correlation): Base {
  const joins = new Joins(aliases);
  if (select.distinctOn.length === 0) {
    // Conditions on cursors are evaluated behind these, so that none of them is a join.
    const { row, table, conditions } = filteredTable(select, aliases, origin, false);
    const terms = orderTerms(select.orderBy, row, joins);
    return { row, terms, conditions, from: () => sql`${table}${joins.clauses()}` };
  }
  const place = filteredTable(select, aliases, origin);
  const { row } = place;
  const terms = orderTerms(select.orderBy, row, joins);
  if (terms.some(({ isJoined }) => isJoined)) aliases.widen(row);
  const from = () => limitedTable(select, place, { terms, joins, carried: carriedColumns(terms) });
  const carried = outside(terms, row).map((term) => ({ ...term, isJoined: false }));
  return { row, terms: carried, conditions: [], from };
}

type PageRows = {
  readonly row: string;
  /** Composed after what reads the rows. */
  readonly from: () => Fragment;
  readonly where: Fragment;
  readonly terms: readonly OrderTerm[];
  /** The filter of aggregates over the page, which excludes the extra row. */
  readonly filter: Fragment;
  readonly hasMore: Fragment | null;
  /** Tells if there are rows on the other side of the cursor. */
  readonly hasBeyond: Fragment | null;
};

function pageRows(page: ConnectionPage, aliases: Aliases, origin: Correlation): PageRows {
  const base = baseOf(page, aliases, origin);
  const { row, terms } = base;
  const bounded = boundedBy(page, base);
  const hasBeyond = page.bound ? beyond(page, aliases, origin) : null;
  if (page.size === null) {
    return { ...base, where: whereClause(bounded), filter: empty, hasMore: null, hasBeyond };
  }
  const size = integer(page.size);
  aliases.cut();
  const order = orderClause(page.isFromEnd ? reversed(page, terms) : terms);
  aliases.widen(row);
  const limit = integer(page.size + 1);
  return {
    row,
    from: () => {
      // Distinct rows come from a subquery that has the row already.
      const whole = page.select.distinctOn.length > 0 ? empty : aliases.wholeRow(row, page.select.table);
      const columns = sql`${id(row)}.*${carriedColumns(terms)}${whole}`;
      const rows = sql`select ${columns} from ${base.from()}${whereClause(bounded)}${order} limit ${limit}`;
      return sql`(select ${id(row)}.*, row_number() over () as ${id(NUMBER)} from (${rows}) ${id(row)}) ${id(row)}`;
    },
    where: empty,
    terms: outside(terms, row),
    filter: sql` filter (where ${id(row)}.${id(NUMBER)} <= ${size})`,
    hasMore: sql`count(*) > ${size}`,
    hasBeyond,
  };
}

function beyond(page: ConnectionPage, aliases: Aliases, origin: Correlation): Fragment {
  const base = baseOf(page, aliases, origin);
  return sql`exists (select 1 from ${base.from()}${whereClause(boundedBy(page, base, true))})`;
}

/** Returns the reversed order. */
function reversed({ select }: ConnectionPage, terms: readonly OrderTerm[]): readonly OrderTerm[] {
  return terms.map((term, i) => {
    const { direction, nulls } = opposite(select.orderBy[i]!);
    return { ...term, direction: directed(direction, nulls) };
  });
}

type Directed = Pick<ConnectionPage['select']['orderBy'][number], 'direction' | 'nulls'>;

function opposite({ direction, nulls }: Directed): Directed {
  return {
    direction: direction === 'asc' ? 'desc' : 'asc',
    nulls: nulls === 'first' ? 'last' : 'first',
  };
}

/** Returns the conditions of the rows on the cursor's side, or with `isBeyond` of all others. When the comparison with the
 *  cursor may raise an error, it is evaluated only for rows that satisfy the other conditions. */
function boundedBy(page: ConnectionPage, { conditions, terms }: Base, isBeyond = false): readonly Fragment[] {
  const bound = boundOf(page, terms, isBeyond);
  const chosen = allOf(conditions);
  if (!page.mayRaise || isTrue(chosen)) return [...conditions, ...bound];
  return [...conditions, ...bound.map((each) => behind(chosen, each))];
}

/** Returns the condition of the rows after the cursor in the order, or before it; with `isBeyond` the condition of all others,
 *  including the cursor's row. */
function boundOf(page: ConnectionPage, terms: readonly OrderTerm[], isBeyond = false): readonly Fragment[] {
  const { bound, keys, select } = page;
  if (!bound) return [];
  const ways = select.orderBy.map((item) => (bound.side === 'after' ? item : opposite(item)));
  const given = bound.values.map((value) => value && param(value));
  const [{ direction }] = ways as [Directed];
  // One operator compares all values of a row.
  const isUniform = keys.every(
    ({ isNullable, type }, i) =>
      !isNullable && ways[i]!.direction === direction && operatorSchema(type) === null,
  );
  const whole = given.filter((value) => value !== null);
  if (isUniform && whole.length === keys.length) {
    const own = terms.map(({ value }) => value);
    return [
      sql`(${join(own, comma)}) ${COMPARISONS[direction][isBeyond ? 'beyond' : 'further']} (${join(whole, comma)})`,
    ];
  }
  const alternatives = terms.flatMap(({ value }, i) => {
    const further = isFurther(value, given[i]!, ways[i]!, keys[i]!);
    if (!further) return [];
    const same = terms.slice(0, i).map((term, j) => isSame(term.value, given[j]!, keys[j]!));
    return [sql`(${allOf([...same, further])})`];
  });
  const isBounded = sql`(${join(alternatives, sql` or `)})`;
  return [isBeyond ? sql`${isBounded} is not true` : isBounded];
}

/** Comparisons of row values, which an index supports. */
const COMPARISONS = {
  asc: { further: sql`>`, beyond: sql`<=` },
  desc: { further: sql`<`, beyond: sql`>=` },
} as const;

function isSame(value: Fragment, given: Fragment | null, { type }: CursorKey): Fragment {
  return given ? compared(value, EQUALS, given, operatorSchema(type)) : sql`${value} is null`;
}

/** Returns the condition that a value follows another in the order; null when no value follows null. */
function isFurther(
  value: Fragment,
  given: Fragment | null,
  { direction, nulls }: Directed,
  { type, isNullable }: ConnectionPage['keys'][number],
): Fragment | null {
  if (!given) return nulls === 'first' ? sql`${value} is not null` : null;
  const beyondIt = compared(value, COMPARISONS[direction].further, given, operatorSchema(type));
  return isNullable && nulls === 'last' ? sql`(${beyondIt} or ${value} is null)` : beyondIt;
}

/** Returns the JSON object of a row of the page. */
type NodePieces = (fields: readonly Field[]) => readonly Piece[];

function fieldPieces(
  field: ConnectionField,
  page: ConnectionPage,
  rows: PageRows,
  nodePieces: NodePieces,
): readonly Piece[] {
  if (field.kind === 'constant') return [text(field.json)];
  if (field.kind === 'page-info') {
    return jsonObject(
      field.fields.map((part) => ({ key: part.alias, value: pageInfoPieces(part, page, rows) })),
    );
  }
  const edge = concatenate(
    jsonObject(
      field.fields.map((part) => ({ key: part.alias, value: edgePieces(part, page, rows, nodePieces) })),
    ),
  );
  return jsonArray(sql`${joinedRows(edge, orderClause(rows.terms))}${rows.filter}`);
}

function edgePieces(
  field: EdgeField,
  page: ConnectionPage,
  rows: PageRows,
  nodePieces: NodePieces,
): readonly Piece[] {
  switch (field.kind) {
    case 'constant':
      return [text(field.json)];
    case 'cursor':
      return [text('"'), expression(cursorOf(page, rows)), text('"')];
    case 'node':
      return nodePieces(field.fields);
    default:
      return field satisfies never;
  }
}

function cursorOf({ keys }: ConnectionPage, { terms }: PageRows): Fragment {
  return cursor(
    keys,
    terms.map(({ value }) => value),
  );
}

function pageInfoPieces(field: PageInfoField, page: ConnectionPage, rows: PageRows): readonly Piece[] {
  switch (field.kind) {
    case 'constant':
      return [text(field.json)];
    case 'startCursor':
      return outermost(page, rows, rows.terms);
    case 'endCursor':
      return outermost(page, rows, reversed(page, rows.terms));
    case 'hasNextPage':
      return either(
        page.isFromEnd ? null : rows.hasMore,
        page.bound?.side === 'before' ? rows.hasBeyond : null,
      );
    case 'hasPreviousPage':
      return either(
        page.isFromEnd ? rows.hasMore : null,
        page.bound?.side === 'after' ? rows.hasBeyond : null,
      );
    default:
      return field satisfies never;
  }
}

/** Returns the cursor of the first row in the order; empty when there are no rows. */
function outermost(page: ConnectionPage, rows: PageRows, order: readonly OrderTerm[]): readonly Piece[] {
  const all = sql`array_agg(${cursorOf(page, rows)}${orderClause(order)})${rows.filter}`;
  return [text('"'), expression(sql`coalesce((${all})[1], '')`), text('"')];
}

function either(...conditions: readonly (Fragment | null)[]): readonly Piece[] {
  const real = conditions.filter((condition) => condition !== null);
  return real.length === 0 ? [text('false')] : [expression(sql`(${join(real, sql` or `)})::text`)];
}

function isAboutRows(field: ConnectionField, { isFromEnd, size }: ConnectionPage): boolean {
  if (field.kind !== 'page-info') return field.kind === 'edges';
  const counted = size === null ? null : isFromEnd ? 'hasPreviousPage' : 'hasNextPage';
  return field.fields.some(({ kind }) => kind === 'startCursor' || kind === 'endCursor' || kind === counted);
}
