/** WAYS: every way a role has to read rows and to write those it reads, with a generator of requests. In: choices, and what the
 *  role may name. Out: a request that can be run on any database of the world.
 *  Not here: writing (write-ways.ts), what the answers must be (interference.ts). */

import { answer, planOf } from '../../execute/answer.ts';
import { answerEndpoint } from '../../execute/endpoint.ts';
import { preparedOnce } from '../../execute/plan-cache.ts';
import { bodyText, splice } from '../../execute/splice.ts';
import { runForMany, runQuery, runStatement, valuesOf } from '../../execute/statements.ts';
import { qualifiedKey } from '../../metadata/schema/common.ts';
import type { QueryRoot } from '../../plan/query-types.ts';
import { planRowsCount } from '../../plan/row-count.ts';
import { planRootSelect } from '../../plan/row-selection.ts';
import { SelectionSize } from '../../plan/selection-size.ts';
import { textOfColumn } from '../../wire/statement.ts';
import type { Asked, Side } from './asked.ts';
import type { Choices } from './choices.ts';
import { makeCondition } from './condition.ts';
import { toArgument, toRule, valueArgument } from './condition-text.ts';
import { Word, Writer } from './graphql-text.ts';
import { digest, parseExactly, type Shape } from './json.ts';
import { fieldsShape, fieldsText, queryRequest, queryShape } from './query-text.ts';
import { makeFields, makeQuery, type Sight } from './request.ts';
import type { Column, Table } from './world-types.ts';
import { makeDelete, makeUpdate } from './write-ways.ts';

type Way = (choices: Choices, sight: Sight) => Asked | null;

const DEEPEST = 3;

export const WAYS = {
  query: (choices, sight) => {
    const query = makeQuery(choices, sight);
    if (!query) return null;
    const request = queryRequest(query, choices, sight.world.names);
    const shape = { fields: new Map([['data', queryShape(query)]]), isUnordered: false };
    return asked(request, async ({ model, databases, session }) => {
      const body = await answer(request, { model, databases, session });
      return sorted(bodyText(body), shape);
    });
  },
  'live query': (choices, sight) => {
    const [root] = makeQuery(choices, sight)?.roots ?? [];
    if (!root) return null;
    const { query, variables } = queryRequest({ roots: [root] }, choices, sight.world.names);
    const request = { query: query.replace(/^query/, 'subscription'), variables };
    const shape = queryShape({ roots: [root] }).fields.get(root.alias)!;
    return asked(request, async (side) => {
      const { statement, values } = statementOf(request, side);
      if (!statement.forMany)
        return sorted(textOf(await runStatement(statement, values, side.databases)), shape);
      const rows = await runForMany(statement, [values, values], side.databases);
      return rows.map((row) => sorted(textOf(row), shape));
    });
  },
  stream: (choices, sight) => {
    const table = tableOf(choices, sight, ({ type }) => type.hasExtremes && type.graphql !== null);
    if (!table) return null;
    const { names } = sight.world;
    const by = choices.of(sight.columns(table).filter(({ type }) => type.hasExtremes && !type.isEnum));
    const writer = new Writer(choices, names);
    const cursor = {
      [names.word('initial_value')]: {
        [names.column(by)]: valueArgument(choices.of(by.type.values), by.type, names),
      },
      ordering: new Word(choices.of(['ASC', 'DESC'])),
    };
    const fields = makeFields(choices, sight, table, DEEPEST);
    const given = writer.arguments([
      { name: names.word('batch_size'), type: null, value: 1 + choices.below(4) },
      { name: 'cursor', type: null, value: [cursor] },
      ...whereOf(choices, sight, table),
    ]);
    const text = `rows: ${names.root(table, '', 'stream')}${given} ${fieldsText(fields, writer)}`;
    const request = {
      query: `subscription s${writer.declarations} { ${text} }`,
      variables: writer.variables,
    };
    const shape = { fields: fieldsShape(fields), isUnordered: true };
    return asked(request, async (side) => {
      const { statement, values } = statementOf(request, side);
      const [rows, last] = await runStatement(statement, values, side.databases);
      return [sorted(textOfColumn(rows ?? null) ?? 'null', shape), last && String(last)];
    });
  },
  connection: (choices, sight) => {
    const table = tableOf(choices, sight, () => true, true);
    if (!table) return null;
    const { names } = sight.world;
    const writer = new Writer(choices, names);
    const fields = makeFields(choices, sight, table, DEEPEST).filter(({ alias }) => alias !== 'id');
    const node = fields.length > 0 ? fieldsText(fields, writer) : '{ __typename }';
    const cells = sight.cells(table);
    const order = choices
      .some(cells, 40)
      .map((column) => ({ [names.column(column)]: orderOf(column, names, choices) }));
    const given = (after: string | null) => [
      { name: 'first', type: null, value: 1 + choices.below(2) },
      ...(order.length > 0 ? [{ name: names.word('order_by'), type: null, value: order }] : []),
      ...(after === null ? [] : [{ name: 'after', type: null, value: new Word('$after') }]),
    ];
    const where = whereOf(choices, sight, table);
    const page = (args: string, declared: string) =>
      `query p${declared} { page: ${names.root(table, '', 'connection')}${args} { edges { cursor node ${node} } pageInfo { hasNextPage hasPreviousPage endCursor } } }`;
    const first = {
      query: page(writer.arguments([...given(null), ...where]), writer.declarations),
      variables: writer.variables,
    };
    return asked(first, async ({ model, databases, session }) => {
      const context = { model, databases, session, isRelay: true };
      const shape = { fields: new Map([['data', pageShape(fieldsShape(fields))]]), isUnordered: false };
      const body = bodyText(await answer(first, context));
      const after = (JSON.parse(body) as Page).data.page.pageInfo.endCursor;
      if (after === '') return sorted(body, shape);
      const args = /^query p\((.*?)\) \{|^query p \{/.exec(first.query)?.[1];
      const declared = `(${args ? `${args}, ` : ''}$after: String!)`;
      const again = first.query.replace(
        /^query p(\(.*?\))? \{ page: (\w+)\(/,
        `query p${declared} { page: $2(after: $after, `,
      );
      const next = await answer({ query: again, variables: { ...first.variables, after } }, context);
      return [sorted(body, shape), sorted(bodyText(next), shape)];
    });
  },
  endpoint: (choices, sight) => {
    const query = makeQuery(choices, sight);
    if (!query) return null;
    const request = queryRequest(query, choices, sight.world.names);
    return asked(request, async ({ model, databases, session }) => {
      const given = { texts: new Map(), values: request.variables, parseJson: JSON.parse };
      return sorted(
        bodyText(await answerEndpoint(request, given, { model, databases, session })),
        queryShape(query),
      );
    });
  },
  select: (choices, sight) => {
    const table = tableOf(choices, sight, () => true);
    if (!table) return null;
    const where = ruleOf(choices, sight, table);
    const columns = sight.columns(table).map(({ name }) => name);
    const related = choices
      .some(sight.relationships(table), 30)
      .filter(({ using, to }) => using !== 'function' && sight.columns(to).length > 0)
      .map(({ name }) => ({ name, columns: ['*'] }));
    const args = { columns: [...columns, ...related], where };
    return asked({ select: table.name, ...args }, (side) =>
      rowsOf(side, (reader) => ({
        kind: 'rows',
        select: planRootSelect(resolvedTable(side, table), args, reader),
      })),
    );
  },
  count: (choices, sight) => {
    const able = sight.world.tables.filter((table) => sight.mayAggregate(table) && sight.mayRead(table));
    if (able.length === 0) return null;
    const table = choices.of(able);
    const args = { where: ruleOf(choices, sight, table) };
    return asked({ count: table.name, ...args }, (side) =>
      rowsOf(side, (reader) => planRowsCount(resolvedTable(side, table), args, reader)),
    );
  },
  update: makeUpdate,
  delete: makeDelete,
} as const satisfies Record<string, Way>;

export type WayName = keyof typeof WAYS;

type Page = { readonly data: { readonly page: { readonly pageInfo: { readonly endCursor: string } } } };

function asked(request: unknown, run: Asked['run']): Asked {
  return { text: JSON.stringify(request), run };
}

function sorted(text: string, shape: Shape): unknown {
  return digest(parseExactly(text), shape);
}

function pageShape(fields: ReadonlyMap<string, Shape>): Shape {
  const nest = (key: string, inner: Shape): Shape => ({
    fields: new Map([[key, inner]]),
    isUnordered: false,
  });
  return nest('page', nest('edges', nest('node', { fields, isUnordered: false })));
}

function statementOf(request: { query: string; variables: Readonly<Record<string, unknown>> }, side: Side) {
  const planned = planOf(request, side);
  const [statement] = planned.plan.statements;
  if (!statement) throw new Error('a subscription has a statement');
  return {
    statement,
    values: valuesOf(statement, { session: side.session, variables: planned.variables.values }),
  };
}

type Row = Awaited<ReturnType<typeof runStatement>>;
const textOf = (row: Row): string => textOfColumn(row[0] ?? null) ?? 'null';

/** A table the role may read, with a column that suits; `hasKey`: one whose key it sees. */
function tableOf(
  choices: Choices,
  sight: Sight,
  suits: (column: Column) => boolean,
  hasKey = false,
): Table | null {
  const able = sight.world.tables.filter(
    (table) =>
      sight.mayRead(table) &&
      sight.columns(table).some((column) => suits(column) && !column.type.isEnum) &&
      (!hasKey || (table.of === null && sight.seesKey(table))),
  );
  return able.length === 0 ? null : choices.of(able);
}

function whereOf(choices: Choices, sight: Sight, table: Table) {
  const { names } = sight.world;
  if (!choices.chance(70)) return [];
  const value = toArgument(makeCondition(choices, table, sight.words), names);
  return [{ name: 'where', type: names.type(table, 'bool_exp'), value }];
}

function orderOf(column: Column, names: Sight['world']['names'], choices: Choices): unknown {
  const word = new Word(names.value(choices.of(['asc', 'desc'])));
  return column.computed?.hasArgument ? { ordering: word } : word;
}

/** A condition of the admin API: without aggregates and calls with arguments, and a text is no session variable. */
function ruleOf(choices: Choices, sight: Sight, table: Table): unknown {
  const words = {
    ...sight.words,
    columns: (on: Table) =>
      sight.words.columns(on).filter(({ computed, type }) => !computed?.hasArgument && type.sql !== 'json'),
    aggregated: () => null,
  };
  return toRule(makeCondition(choices, table, words));
}

async function rowsOf(
  { model, databases, session }: Side,
  root: (reader: Parameters<typeof planRootSelect>[2]) => QueryRoot,
): Promise<unknown> {
  const query = root({ model, role: session.role, size: new SelectionSize(), level: 0 });
  const plan = {
    operation: 'query',
    roots: [{ kind: 'database', alias: 'rows', source: 'default', query }],
  } as const;
  const { statements, template } = preparedOnce(plan, { sources: model.sources, session });
  const row = await runQuery(statements[0]!, { session, variables: {} }, databases);
  return unordered(JSON.parse(bodyText(splice(template, [row]))).data.rows);
}

function unordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => JSON.stringify(unordered(item))).sort();
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unordered(member)]));
}

function resolvedTable({ model }: Side, { name }: Table) {
  return model.sources.get('default')!.tables.get(qualifiedKey({ schema: 'public', name }))!;
}
