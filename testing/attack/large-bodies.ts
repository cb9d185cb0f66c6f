/** LARGE_BODIES: bodies as long as a role may send, each with as many parts of one kind as fit, as an ordered table. They may be refused, but
 *  nobody waits for them. Out: bodies for the tables of amplification/world.ts. Not here: sending and measuring
 *  (attacks.ts, engine/end-to-end/large-bodies.test.ts). */
import { tableName } from '../amplification/world.ts';

/** The default of --max-role-body-length. */
export const MOST_BYTES = 4 * 2 ** 20;

export type LargeBody = {
  readonly name: string;
  readonly path: string;
  readonly contentType: string;
  /** Returns a body of about so many bytes, but no more. */
  readonly bodyOf: (bytes: number) => string;
};

type Part = (i: number) => string;

/** Repeats a part until the text has the bytes. */
function filled(bytes: number, of: Part, separator = ','): string {
  const parts: string[] = [];
  for (let size = 0; ; ) {
    const part = of(parts.length);
    size += part.length + separator.length;
    if (size > bytes) return parts.join(separator);
    parts.push(part);
  }
}

/** Nests parts until the text has the bytes. */
function nested(levels: number, open: string, close: string, inner: string): string {
  return open.repeat(levels) + inner + close.repeat(levels);
}

const T = tableName(0);
const WHERE = `query($w:${T}_bool_exp!){${T}(where:$w){id}}`;
const INSERT = `mutation($o:[${T}_insert_input!]!){insert_${T}(objects:$o){affected_rows}}`;
const JSONB = `query($j:jsonb!){${T}(where:{doc:{_contains:$j}}){id}}`;

const withVariable = (query: string, name: string, json: string) =>
  `{"query":${JSON.stringify(query)},"variables":{"${name}":${json}}}`;

/** Bodies of POST /v1/graphql, by name. */
const BODIES: Readonly<Record<string, (bytes: number) => string>> = {
  'aliases of columns': (bytes) => `{"query":"{${T}{${filled(bytes, (i) => `a${i}:id`, ' ')}}}"}`,
  'aliases of roots': (bytes) => `{"query":"{${filled(bytes, (i) => `a${i}:${T}{id}`, ' ')}}"}`,
  relationships: (bytes) => `{"query":"{${T}{${filled(bytes, (i) => `a${i}:before{id}`, ' ')}}}"}`,
  'equal fields': (bytes) => `{"query":"{${T}{${filled(bytes, () => 'id', ' ')}}}"}`,
  'a comment': (bytes) => `{"query":"{${T}{id}} #${'x'.repeat(bytes)}"}`,
  spaces: (bytes) => `{"query":"{${T}{id}}${' '.repeat(bytes)}"}`,
  commas: (bytes) => `{"query":"{${T}{id}}${','.repeat(bytes)}"}`,
  'a long name': (bytes) => `{"query":"{${'x'.repeat(bytes)}}"}`,
  'a long text in a document': (bytes) =>
    `{"query":"{${T}(where:{name:{_eq:\\"${'x'.repeat(bytes)}\\"}}){id}}"}`,
  'a text of lines in a document': (bytes) =>
    `{"query":"{${T}(where:{name:{_eq:\\"\\"\\"${'x\\n '.repeat(bytes / 4)}\\"\\"\\"}}){id}}"}`,
  'a list in a document': (bytes) => `{"query":"{${T}(where:{id:{_in:[${filled(bytes, String)}]}}){id}}"}`,
  'conditions in a document': (bytes) =>
    `{"query":"{${T}(where:{_or:[${filled(bytes, (i) => `{id:{_eq:${i}}}`)}]}){id}}"}`,
  'few long conditions in a document': (bytes) =>
    `{"query":"{${T}(where:{_or:[${filled(bytes, (i) => `{name:{_eq:\\"${'x'.repeat(600)}${i}\\"}}`)}]}){id}}"}`,
  'objects in a document': (bytes) =>
    `{"query":"mutation{insert_${T}(objects:[${filled(bytes, (i) => `{id:${i + 10}}`)}]){affected_rows}}"}`,
  'long objects in a document': (bytes) =>
    `{"query":"mutation{insert_${T}(objects:[${filled(bytes, (i) => `{id:${i + 10},name:\\"${'x'.repeat(300)}\\"}`)}]){affected_rows}}"}`,
  fragments: (bytes) => `{"query":"{__typename} ${filled(bytes, (i) => `fragment f${i} on ${T}{id}`, ' ')}"}`,
  'long fragments': (bytes) =>
    `{"query":"{${T}{...f0}} ${filled(bytes, (i) => `fragment f${i} on ${T}{${`id #${'x'.repeat(200)}\\n`} ...f${i + 1}}`, ' ')}"}`,
  operations: (bytes) =>
    `{"operationName":"q0","query":"${filled(bytes, (i) => `query q${i}{__typename}`, ' ')}"}`,
  variables: (bytes) =>
    `{"query":"query(${filled(bytes / 2, (i) => `$v${i}:Int`, ' ')}){__typename}","variables":{${filled(bytes / 2, (i) => `"v${i}":1`)}}}`,
  'unknown variables': (bytes) =>
    `{"query":"{__typename}","variables":{${filled(bytes, (i) => `"v${i}":1`)}}}`,
  'a list of numbers': (bytes) =>
    withVariable(`query($l:[Int!]!){${T}(where:{id:{_in:$l}}){id}}`, 'l', `[${filled(bytes, String)}]`),
  'a list of digits': (bytes) =>
    withVariable(`query($l:[Int!]!){${T}(where:{id:{_in:$l}}){id}}`, 'l', `[${filled(bytes, () => '1')}]`),
  'a list of texts': (bytes) =>
    withVariable(
      `query($l:[String!]!){${T}(where:{name:{_in:$l}}){id}}`,
      'l',
      `[${filled(bytes, () => '"a"')}]`,
    ),
  'a list of decimals': (bytes) =>
    withVariable(
      `query($l:[numeric!]!){${T}(where:{amount:{_in:$l}}){id}}`,
      'l',
      `[${filled(bytes, (i) => `${i}.10`)}]`,
    ),
  'a list of times': (bytes) =>
    withVariable(
      `query($l:[timestamptz!]!){${T}(where:{at:{_in:$l}}){id}}`,
      'l',
      `[${filled(bytes, () => '"2030-01-01"')}]`,
    ),
  'a list of wrong values': (bytes) =>
    withVariable(
      `query($l:[Int!]!){${T}(where:{id:{_in:$l}}){id}}`,
      'l',
      `[${filled(bytes, () => '1')},"x"]`,
    ),
  'lists of lists': (bytes) =>
    withVariable(
      `query($l:[_text!]!){${T}(where:{tags:{_in:$l}}){id}}`,
      'l',
      `[${filled(bytes, () => '["a"]')}]`,
    ),
  'an array': (bytes) =>
    withVariable(
      `query($l:[String!]){${T}(where:{tags:{_eq:$l}}){id}}`,
      'l',
      `[${filled(bytes, () => '"a"')}]`,
    ),
  'a condition': (bytes) =>
    withVariable(WHERE, 'w', `{"_or":[${filled(bytes, (i) => `{"id":{"_eq":${i}}}`)}]}`),
  'a condition of long values': (bytes) =>
    withVariable(WHERE, 'w', `{"_or":[${filled(bytes, () => `{"name":{"_eq":"${'x'.repeat(550)}"}}`)}]}`),
  'a condition of lists': (bytes) =>
    withVariable(WHERE, 'w', `{"_or":[${filled(bytes, () => `{"id":{"_in":[${'1,'.repeat(250)}1]}}`)}]}`),
  'a condition on relationships': (bytes) =>
    withVariable(
      WHERE,
      'w',
      `{"_or":[${filled(bytes, () => `{"before":{"before":{"name":{"_eq":"${'x'.repeat(1900)}"}}}}`)}]}`,
    ),
  'wrong fields of a condition': (bytes) =>
    withVariable(WHERE, 'w', `{${filled(bytes, (i) => `"x${i}":{}`)}}`),
  objects: (bytes) => withVariable(INSERT, 'o', `[${filled(bytes, (i) => `{"id":${i + 10}}`)}]`),
  'empty objects': (bytes) => withVariable(INSERT, 'o', `[${filled(bytes, () => '{}')}]`),
  'long objects': (bytes) =>
    withVariable(INSERT, 'o', `[${filled(bytes, (i) => `{"id":${i + 10},"name":"${'x'.repeat(100)}"}`)}]`),
  'objects of different shapes': (bytes) =>
    withVariable(
      INSERT,
      'o',
      `[${filled(bytes, (i) => `{"id":${i + 10}${i % 2 ? `,"name":"${'x'.repeat(80)}"` : `,"doc":{"a":"${'x'.repeat(80)}"}`}}`)}]`,
    ),
  // Longer ones have too many values and are refused.
  'objects that leave out a column': (bytes) =>
    withVariable(
      INSERT,
      'o',
      `[${filled(Math.min(bytes, 700_000), (i) => `{"id":${i + 10}${i % 2 ? ',"name":"x"' : ''}}`)}]`,
    ),
  'objects with JSON': (bytes) =>
    withVariable(INSERT, 'o', `[${filled(bytes, (i) => `{"id":${i + 10},"doc":[${'[],'.repeat(30)}1]}`)}]`),
  'objects with arrays': (bytes) =>
    withVariable(
      INSERT,
      'o',
      `[${filled(bytes, (i) => `{"id":${i + 10},"tags":[${'"a",'.repeat(30)}"b"]}`)}]`,
    ),
  'objects with related rows': (bytes) =>
    withVariable(
      INSERT,
      'o',
      `[${filled(bytes, (i) => `{"id":${i + 10},"after":{"data":[{"id":${i + 10},"name":"${'x'.repeat(150)}"}]}}`)}]`,
    ),
  updates: (bytes) =>
    withVariable(
      `mutation($o:[${T}_updates!]!){update_${T}_many(updates:$o){affected_rows}}`,
      'o',
      `[${filled(bytes, (i) => `{"where":{"id":{"_eq":${-i}}},"_set":{"name":"${'x'.repeat(600)}"}}`)}]`,
    ),
  'JSON of lists': (bytes) => withVariable(JSONB, 'j', `[${filled(bytes, () => '[]')}]`),
  'JSON of objects': (bytes) => withVariable(JSONB, 'j', `[${filled(bytes, (i) => `{"a":${i}}`)}]`),
  'JSON of numbers': (bytes) => withVariable(JSONB, 'j', `[${filled(bytes, () => '1.0')}]`),
  'JSON of keys': (bytes) => withVariable(JSONB, 'j', `{${filled(bytes, (i) => `"k${i}":1`)}}`),
  'JSON that is nested': (bytes) =>
    withVariable(JSONB, 'j', `[${filled(bytes, () => nested(500, '[', ']', '1'))}]`),
  'JSON of escapes': (bytes) => withVariable(JSONB, 'j', `"${'\\u0001'.repeat(bytes / 6)}"`),
  'JSON of marks': (bytes) => withVariable(JSONB, 'j', `[${filled(bytes, () => '"\\u0001"')}]`),
  backslashes: (bytes) => withVariable(JSONB, 'j', `"${'\\\\'.repeat(bytes / 2)}"`),
  'members beside the query': (bytes) => `{"query":"{__typename}",${filled(bytes, (i) => `"x${i}":1`)}}`,
  'invalid JSON': (bytes) => `{"query":"{__typename}","variables":[${filled(bytes, () => '1.0')}`,
  'a batch of empty requests': (bytes) => `[${filled(bytes, () => '{}')}]`,
  'a batch of lists': (bytes) =>
    `[${filled(bytes, () => withVariable(`query($l:[Int!]!){${T}(where:{id:{_in:$l}}){id}}`, 'l', `[${'1,'.repeat(2500)}1]`))}]`,
  'a batch of conditions': (bytes) =>
    `[${filled(bytes, (i) => withVariable(WHERE, 'w', `{"_or":[${filled(100_000, (j) => `{"id":{"_eq":${i * 10_000 + j}}}`)}]}`))}]`,
  'a batch of documents': (bytes) =>
    `[${filled(bytes, (i) => `{"query":"{${filled(4300, (j) => `a${i}x${j}:__typename`, ' ')}}"}`)}]`,
  'a batch of invalid documents': (bytes) =>
    `[${filled(bytes, (i) => `{"query":"{${filled(4300, (j) => `a${i}x${j}:id`, ' ')}}"}`)}]`,
};

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

/** Bodies of POST to the endpoint of a query with a list, by name. */
const ENDPOINT_BODIES: Readonly<
  Record<string, readonly [contentType: string, of: (bytes: number) => string]>
> = {
  'a form of many names': [FORM, (bytes) => filled(bytes, (i) => `a${i}=1`, '&')],
  'a form of one name': [FORM, (bytes) => filled(bytes, () => 'l=1', '&')],
  'a list of an endpoint': [JSON_TYPE, (bytes) => `{"l":[${filled(bytes, String)}]}`],
  'arguments of an endpoint': [JSON_TYPE, (bytes) => `{${filled(bytes, (i) => `"a${i}":1`)}}`],
};

/** The names and the query are beside the repeated part. */
const MARGIN = 2000;

export const LARGE_BODIES: readonly LargeBody[] = [
  ...Object.entries(BODIES).map(([name, of]) => ({ name, path: '/v1/graphql', contentType: JSON_TYPE, of })),
  ...Object.entries(ENDPOINT_BODIES).map(([name, [contentType, of]]) => ({
    name,
    path: '/api/rest/large',
    contentType,
    of,
  })),
].map(({ of, ...rest }) => ({ ...rest, bodyOf: (bytes) => of(bytes - MARGIN) }));
