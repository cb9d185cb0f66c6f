/** Random GraphQL requests of up to 1 MB from a grammar: aliases, fragments, introspection, relationships, conditions, orders, lists,
 *  literals, variables, mutations, batches. Most are valid, because invalid ones are refused early. A request repeats few productions
 *  many times, since that is what amplifies. In: random choices. Out: the text of a body and a name for reports.
 *  Not here: sending it (generators.ts), the tables (world.ts). */
import type { Random } from './random.ts';
import { TABLES, tableName } from './world.ts';

export type RequestBody = { readonly name: string; readonly body: string };

const MOST_BYTES = 1_000_000;
/** The bytes of JSON and names beside the repeated part. */
const MARGIN = 20_000;

type Part = { readonly query: string; readonly variables?: unknown };
type Production = (random: Random, bytes: number) => Part;

/** Repeats a text until it has the bytes. */
export function repeated(bytes: number, of: (i: number) => string, separator = ' '): string {
  const parts: string[] = [];
  for (let size = 0; size < bytes; ) {
    const part = of(parts.length);
    parts.push(part);
    size += part.length + separator.length;
  }
  return parts.join(separator);
}

/** Repeats a value until its JSON has the bytes. */
export function listOf(bytes: number, of: (i: number) => unknown): unknown[] {
  const list: unknown[] = [];
  for (let size = 0; size < bytes; ) {
    const item = of(list.length);
    list.push(item);
    size += JSON.stringify(item).length + 1;
  }
  return list;
}

const COLUMNS = ['id', 'name', 'amount', 'flag', 'doc', 'tags', 'at', 'before_id'] as const;

function scalar(random: Random): readonly [column: string, operator: string, value: unknown] {
  return random.pick([
    ['id', '_eq', random.below(1000)],
    ['id', '_in', [1, 2, 3]],
    ['name', '_ilike', '%x%'],
    ['amount', '_gt', 0.5],
    ['flag', '_is_null', false],
    ['doc', '_contains', { a: 1 }],
    ['tags', '_contains', ['x']],
    ['at', '_lt', '2030-01-01'],
  ] as const);
}

/** Returns a condition on rows of any table, as JSON. */
export function condition(random: Random, depth: number): Record<string, unknown> {
  const inner = () => condition(random, depth - 1);
  if (depth > 0) {
    switch (random.below(6)) {
      case 0:
        return { _and: Array.from({ length: 1 + random.below(3) }, inner) };
      case 1:
        return { _or: Array.from({ length: 1 + random.below(3) }, inner) };
      case 2:
        return { _not: inner() };
      case 3:
        return { before: inner() };
      case 4:
        return { after: inner() };
    }
  }
  const [column, operator, value] = scalar(random);
  return { [column]: { [operator]: value } };
}

/** Prints a JSON value as a literal of GraphQL. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${name}:${literal(member)}`);
  return `{${members.join(',')}}`;
}

/** Returns a selection on rows, nested so many levels. */
function selection(random: Random, depth: number): string {
  if (depth === 0) return `{${random.pick(COLUMNS)}}`;
  const inner = selection(random, depth - 1);
  return random.pick([
    `{id before${inner}}`,
    `{after(limit:2)${inner}}`,
    `{a:after(limit:1)${inner} b:before${inner}}`,
    `{after_aggregate{aggregate{count max{id}} nodes${inner}}}`,
  ]);
}

const REFERENCE = 'type{name kind ofType{name kind ofType{name kind ofType{name}}}}';
const INTROSPECTED = [
  'name',
  'description',
  `fields{name ${REFERENCE}}`,
  `fields(includeDeprecated:true){name args{name defaultValue ${REFERENCE}}}`,
  `inputFields{name ${REFERENCE}}`,
  'enumValues{name description}',
  'possibleTypes{name fields{name}}',
  'fields{type{fields{name type{name}}}}',
] as const;

const table = (random: Random) => tableName(random.below(TABLES));

/** The productions by name. Each fills the bytes by repeating one thing. */
export const PRODUCTIONS: Readonly<Record<string, Production>> = {
  'root aliases': (random, bytes) => {
    const [name, where] = [table(random), literal(condition(random, 1))];
    const args = random.pick(['(limit:1)', `(where:${where})`, '(order_by:{id:asc},limit:1)']);
    return { query: `{${repeated(bytes, (i) => `a${i}:${name}${args}{id}`)}}` };
  },
  'field aliases': (random, bytes) => {
    const field = random.pick(['id', 'doc(path:"a")', 'before{id}', 'after(limit:1){id}', '__typename']);
    return { query: `{${table(random)}{${repeated(bytes, (i) => `a${i}:${field}`)}}}` };
  },
  'equal fields': (random, bytes) => {
    const field = random.pick([
      'id',
      'before{id}',
      'after(limit:1){id}',
      `after(where:${literal(condition(random, 2))}){id}`,
    ]);
    return { query: `{${table(random)}{${repeated(bytes, () => field)}}}` };
  },
  'nested relationships': (random, bytes) => {
    const depth = 1 + random.below(6);
    return {
      query: `{${repeated(bytes, (i) => `a${i}:${table(random)}(limit:1)${selection(random, depth)}`)}}`,
    };
  },
  'fragments that double': (random) => {
    const depth = 1 + random.below(30);
    const of = (i: number) => tableName(TABLES - 1 - i);
    const step = random.pick(['before', 'before']);
    const chain = Array.from(
      { length: depth },
      (_, i) => `fragment f${i} on ${of(i)}{a:${step}{...f${i + 1}} b:${step}{...f${i + 1}}}`,
    );
    return { query: `{${of(0)}{...f0}} ${chain.join(' ')} fragment f${depth} on ${of(depth)}{id}` };
  },
  'spreads of one fragment': (random, bytes) => {
    const where = literal({ _or: Array.from({ length: 1 + random.size(500) }, () => condition(random, 1)) });
    const spreads = repeated(bytes, (i) => `a${i}:before{...f}`);
    return {
      query: `{${tableName(2)}{${spreads}}} fragment f on ${tableName(1)}{after(where:${where}){id}}`,
    };
  },
  'many fragments': (_, bytes) => {
    const count = Math.floor(bytes / 50);
    const spreads = repeated(count * 7, (i) => `...f${i}`);
    const names = spreads.split(' ').map((spread) => spread.slice(3));
    return {
      query: `{${spreads}} ${names.map((name) => `fragment ${name} on query_root{__typename}`).join(' ')}`,
    };
  },
  'inline fragments': (random, bytes) => ({
    query: `{${repeated(bytes, (i) => `...@include(if:true){a${i}:${random.pick(['__typename', `${tableName(0)}{id}`])}}`)}}`,
  }),
  'aliases in an introspection': (random, bytes) => {
    const inner = random.pick(INTROSPECTED);
    return { query: `{__schema{${repeated(Math.min(bytes, 100_000), (i) => `a${i}:types{${inner}}`)}}}` };
  },
  'fields in an introspection': (random, bytes) => {
    const inner = random.pick(INTROSPECTED);
    return { query: `{__schema{types{${repeated(Math.min(bytes, 100_000), (i) => `a${i}:${inner}`)}}}}` };
  },
  introspections: (random, bytes) => {
    const parts = Array.from({ length: 1 + random.below(4) }, () => random.pick(INTROSPECTED)).join(' ');
    const of = random.pick([`__schema{types{${parts}}}`, `__type(name:"query_root"){${parts}}`]);
    return { query: `{${repeated(random.size(Math.min(bytes, 20_000)), (i) => `a${i}:${of}`)}}` };
  },
  'a literal condition': (random, bytes) => {
    const branches = repeated(bytes, () => literal(condition(random, 2)), ',');
    const key = random.pick(['_and', '_or']);
    return { query: `{${table(random)}(where:{${key}:[${branches}]}){id}}` };
  },
  'a literal list': (random, bytes) => ({
    query: `{${table(random)}(where:{id:{_in:[${repeated(bytes, String, ',')}]}}){id}}`,
  }),
  'a condition': (random, bytes) => {
    const name = table(random);
    const depth = random.below(5);
    const key = random.pick(['_and', '_or']);
    const variables = { w: { [key]: listOf(bytes, () => condition(random, depth)) } };
    return { query: `query($w:${name}_bool_exp!){${name}(where:$w){id}}`, variables };
  },
  'a deep condition': (random, bytes) => {
    const name = table(random);
    const levels = Math.min(300, 1 + random.size(Math.max(2, bytes / 10)));
    let w: unknown = {};
    for (let i = 0; i < levels; i++)
      w = random.pick([{ _not: w }, { _and: [w] }, { before: w }, { after: w }]);
    return { query: `query($w:${name}_bool_exp!){${name}(where:$w){id}}`, variables: { w } };
  },
  'one condition in many fields': (random, bytes) => {
    const name = table(random);
    const fields = repeated(bytes / 2, (i) => `a${i}:${name}(where:$w,limit:1){id}`);
    const variables = { w: { _or: listOf(random.size(bytes / 2), () => condition(random, 1)) } };
    return { query: `query($w:${name}_bool_exp!){${fields}}`, variables };
  },
  'a list': (random, bytes) => {
    const name = table(random);
    const [column, type, item] = random.pick([
      ['id', 'Int', (i: number) => i + 1000],
      ['name', 'String', (i: number) => `name ${i}`],
      ['amount', 'numeric', (i: number) => i + 0.125],
      ['flag', 'Boolean', () => true],
      ['at', 'timestamptz', () => '2030-01-01'],
    ] as const);
    const operator = random.pick(['_in', '_nin']);
    const query = `query($l:[${type}!]!){${name}(where:{${column}:{${operator}:$l}}){id}}`;
    return { query, variables: { l: listOf(bytes, item) } };
  },
  orders: (random, bytes) => {
    const name = table(random);
    const item = random.pick([
      { id: 'asc' },
      { before: { before: { name: 'desc_nulls_last' } } },
      { after_aggregate: { count: 'asc' } },
    ]);
    return {
      query: `query($o:[${name}_order_by!]){${name}(order_by:$o){id}}`,
      variables: { o: listOf(bytes, () => item) },
    };
  },
  rows: (random, bytes) => {
    const name = table(random);
    const row = random.pick([
      () => ({}),
      (i: number) => ({ id: -i - 2, name: 'x' }),
      (i: number) => (i % 2 === 0 ? { id: -i - 2 } : { id: -i - 2, name: 'x' }),
      (i: number) => ({ id: -i - 2, doc: { a: [i] }, tags: ['a', 'b'] }),
      (i: number) => ({ id: -i - 2, name: 'x', amount: 1.5, flag: true, at: '2030-01-01' }),
    ]);
    // The rows are not kept, so that the next case meets the same tables.
    const query = `mutation($o:[${name}_insert_input!]!){insert_${name}(objects:$o){affected_rows} insert_${name}_one(object:{id:1}){id}}`;
    return { query, variables: { o: listOf(bytes, row) } };
  },
  updates: (random, bytes) => {
    const name = table(random);
    const item = (i: number) => ({ where: { id: { _eq: -i } }, _set: { name: 'x' } });
    const query = `mutation($o:[${name}_updates!]!){update_${name}_many(updates:$o){affected_rows}}`;
    return { query, variables: { o: listOf(bytes, item) } };
  },
  json: (random, bytes) => {
    const name = table(random);
    const value = random.pick([
      () => listOf(bytes, (i) => ({ a: i })),
      () => Object.fromEntries(listOf(bytes, (i) => `k${i}`).map((key) => [key, 1])),
      () => 'x'.repeat(bytes),
      () => listOf(bytes, () => [[]]),
      () => listOf(bytes, () => 1e300),
    ])();
    const query = random.pick([
      `query($j:jsonb!){${name}(where:{doc:{_contains:$j}}){id}}`,
      `mutation($j:jsonb!){update_${name}(where:{id:{_eq:-1}},_set:{doc:$j}){affected_rows}}`,
    ]);
    return { query, variables: { j: value } };
  },
  'variables of one operation': (_, bytes) => {
    const count = Math.max(1, Math.floor(bytes / 50));
    const names = Array.from({ length: count }, (__, i) => `v${i}`);
    const query = `query(${names.map((name) => `$${name}:Int`).join(' ')}){${tableName(0)}(where:{id:{_in:[${names.map((name) => `$${name}`).join(' ')}]}}){id}}`;
    return { query, variables: Object.fromEntries(names.map((name, i) => [name, i])) };
  },
  operations: (_, bytes) => ({ query: repeated(bytes, (i) => `query o${i}{__typename}`) }),
  'ignored characters': (random, bytes) => ({
    query: `{__typename ${random.pick([',', ' ', '\n', '#x\n']).repeat(bytes / 4)}}`,
  }),
  'a long text': (random, bytes) => {
    const text = random.pick(['x', '\\"', 'é', '\\u0041', '%']).repeat(bytes / 8);
    return {
      query: `{${table(random)}(where:{name:{${random.pick(['_eq', '_like', '_similar'])}:"${text}"}}){id}}`,
    };
  },
};

const NAMES = Object.keys(PRODUCTIONS);

/** Returns a body with one request, or with a batch of equal or different ones. */
export function randomBody(random: Random): RequestBody {
  const bytes = random.size(MOST_BYTES - MARGIN);
  const name = random.pick(NAMES);
  const part = (most: number) => PRODUCTIONS[name]!(random, Math.max(1, Math.min(most, bytes)));
  if (!random.oneIn(6)) return { name, body: JSON.stringify(part(bytes)).slice(0, MOST_BYTES * 2) };
  const of = random.size(1_000);
  const isEqual = random.oneIn(2);
  const one = part(bytes / of);
  const parts = Array.from({ length: of }, () => (isEqual ? one : part(bytes / of)));
  return { name: `batch of ${of} ${name}`, body: JSON.stringify(parts) };
}
