/** Random answers of up to 1 MB of a service that engines call: those of a remote schema and of an action, mostly of the form that the engine
 *  expects, repeated in a way that amplifies, plain or compressed. In: random choices. Out: the request, and the body and headers of its
 *  answer. Not here: the service (service.ts), sending (generators.ts). */
import { gzipSync } from 'node:zlib';
import { listOf, repeated } from './documents.ts';
import type { Random } from './random.ts';

export type ServiceAnswer = {
  readonly name: string;
  readonly query: string;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
};

const SELECTIONS = [
  '{ items { id name } }',
  '{ items { __typename id tags kind inner { id items { name } } } }',
  '{ item { id inner { inner { inner { id name } } } } }',
  '{ named { __typename name ... on Item { id items { id } } ... on Other { count } } }',
  '{ any { __typename ... on Item { any { __typename ... on Other { count } } json } } }',
  '{ json text }',
  'mutation { act { id name tags items { id } } }',
] as const;

const VALUES = [
  1,
  -0.5,
  1e300,
  '',
  'x',
  null,
  true,
  [],
  {},
  [null],
  { id: 1 },
  { __typename: 'Item' },
] as const;

/** Returns a value of any form, nested so many levels. */
function value(random: Random, depth: number): unknown {
  if (depth === 0 || random.oneIn(4)) return random.pick(VALUES);
  const inner = () => value(random, depth - 1);
  if (random.oneIn(3)) return Array.from({ length: random.below(4) }, inner);
  const names = ['id', 'name', '__typename', 'tags', 'kind', 'inner', 'items', 'any', 'json', 'count'];
  return Object.fromEntries(names.filter(() => random.oneIn(2)).map((name) => [name, inner()]));
}

type Production = (random: Random, bytes: number) => unknown;

/** Puts a value where each root field of SELECTIONS is. */
const everywhere = (one: unknown, list: unknown) => ({
  data: { item: one, items: list, named: list, any: one, json: list, text: one, act: one },
});

const PRODUCTIONS: Readonly<Record<string, Production>> = {
  'equal items': (random, bytes) => {
    const item = value(random, 3);
    return everywhere(
      item,
      listOf(bytes, () => item),
    );
  },
  'items of any form': (random, bytes) =>
    everywhere(
      value(random, 5),
      listOf(bytes, () => value(random, 3)),
    ),
  'right items': (_, bytes) =>
    everywhere(
      null,
      listOf(bytes, (i) => ({
        __typename: 'Item',
        id: `${i}`,
        name: 'n',
        tags: ['t'],
        kind: 'A',
        inner: null,
        items: [],
      })),
    ),
  'members that nobody selected': (_, bytes) => {
    const members = Object.fromEntries(listOf(bytes, (i) => `m${i}`).map((name) => [name, 1]));
    return everywhere(members, [members]);
  },
  'a deep object': (random, bytes) => {
    const [open, close] = random.pick([
      ['{"inner":', '}'],
      ['{"items":[', ']}'],
      ['[', ']'],
    ] as const);
    const depth = Math.floor(bytes / (open.length + close.length));
    return { raw: `{"data":{"item":${open.repeat(depth)}null${close.repeat(depth)},"items":[]}}` };
  },
  'long texts': (random, bytes) => {
    const text = random.pick(['x', '\\u0041', '\\"', 'ä', '😀', '\\ud800']).repeat(Math.floor(bytes / 6));
    return { raw: `{"data":{"item":{"id":"${text}","name":"${text}"},"text":"${text}","json":"${text}"}}` };
  },
  numbers: (random, bytes) => {
    const number = random.pick(['1', '1e308', '-0', '0.1234567890123456789', '9'.repeat(300)]);
    return { raw: `{"data":{"json":[${repeated(bytes, () => number, ',')}],"text":${number}}}` };
  },
  errors: (random, bytes) => ({
    data: random.pick([null, {}, undefined]),
    errors: listOf(bytes, (i) => ({
      message: 'm'.repeat(random.size(200)),
      path: ['items', i, 'id'],
      extensions: { code: 'c' },
    })),
  }),
  'a refusal': (_, bytes) => ({ message: 'm'.repeat(bytes), extensions: { path: 'p'.repeat(100) } }),
  'no answer of GraphQL': (random, bytes) => ({
    raw: repeated(bytes, () => random.pick(['[', '{', '"', ' ', '\n', 'null', '<p>', '\\', ',']), ''),
  }),
};

const NAMES = Object.keys(PRODUCTIONS);
const MOST_BYTES = 1_000_000;
/** A compressed answer may stand for this many times its bytes. */
const MOST_RATIO = 30;

export function randomAnswer(random: Random): ServiceAnswer {
  const production = random.pick(NAMES);
  const isCompressed = random.oneIn(3);
  const bytes = random.size(MOST_BYTES) * (isCompressed ? 1 + random.below(MOST_RATIO) : 1);
  const made = PRODUCTIONS[production]!(random, bytes) as { readonly raw?: string };
  const text = made.raw ?? JSON.stringify(made);
  const plain = Buffer.from(text);
  return {
    name: `${production}${isCompressed ? `, ${Math.round(plain.length / 1000)} kB compressed` : ''}`,
    query: random.pick(SELECTIONS),
    body: isCompressed ? gzipSync(plain, { level: 1 }) : plain,
    headers: {
      'content-type': 'application/json',
      ...(isCompressed ? { 'content-encoding': 'gzip' } : {}),
    },
  };
}
