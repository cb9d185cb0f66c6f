/** Tests which values `limit` and `offset` take, as literals and in variables: non-negative integers of 32 bits, and of 64 bits, also
 *  as text, for an offset. Reference: docs/reference/behaviour/queries.md. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await startWorld({
    sql: 'create table note (id int primary key); insert into note values (1), (2)',
    tables: ['note'],
  });
});
afterAll(() => world?.close());

const OVERFLOW =
  'lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?';
/** What a value is: accepted, of a wrong kind (as a literal and as JSON), or out of range, as the message writes it. */
type Verdict = 'good' | readonly [literal: string, json: string] | string;
type Row = readonly [literal: string, limit: Verdict, offset: Verdict];

const both = (literal: string, verdict: Verdict): Row => [literal, verdict, verdict];
const VALUES: readonly Row[] = [
  ...['0', '1', '2147483647', 'null'].map((literal) => both(literal, 'good')),
  ['2147483648', '2.147483648e9', 'good'],
  ['9223372036854775808', '9.223372036854775808e18', '9.223372036854775808e18'],
  both('-1', ['an integer', 'a number']),
  ['"1"', ['a string', 'a string'], 'good'],
  both('"x"', ['a string', 'a string']),
  both('"-1"', ['a string', 'a string']),
  both('"9223372036854775808"', ['a string', 'a string']),
  both('true', ['a boolean', 'a boolean']),
  both('{}', ['an object', 'an object']),
  both('[]', ['a list', 'a list']),
];

const raw = (_key: string, value: unknown, { source }: { source?: string }) =>
  typeof value === 'number'
    ? (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON(source!)
    : value;

describe.each(['limit', 'offset'] as const)('%s', (argument) => {
  test.each(VALUES)('%s', async (literal, ofLimit, ofOffset) => {
    const verdict = argument === 'limit' ? ofLimit : ofOffset;
    const variables = { n: JSON.parse(literal, raw as never) as unknown };
    const outcomes = [
      await graphqlOutcome(world.engine, `{ note(${argument}: ${literal}) { id } }`),
      await graphqlOutcome(world.engine, `query ($n: Int) { note(${argument}: $n) { id } }`, { variables }),
    ];
    const path = `$.selectionSet.note.args.${argument}`;
    for (const [i, outcome] of outcomes.entries()) {
      if (verdict === 'good') expect(outcome).toHaveProperty('data');
      else if (typeof verdict === 'string') {
        expect(outcome).toEqual({ code: 'parse-failed', path, message: `The value ${verdict} ${OVERFLOW}` });
      } else {
        const message = `expected a non-negative 32-bit integer for type 'Int', but found ${verdict[i]}`;
        expect(outcome).toEqual({ code: 'validation-failed', path, message });
      }
    }
  });

  test('a fraction is of the wrong kind as a literal, and out of range as JSON', async () => {
    expect(await graphqlOutcome(world.engine, `{ note(${argument}: 1.5) { id } }`)).toMatchObject({
      code: 'validation-failed',
    });
    const query = `query ($n: Int) { note(${argument}: $n) { id } }`;
    expect(await graphqlOutcome(world.engine, query, { variables: { n: 1.5 } })).toMatchObject({
      code: 'parse-failed',
    });
  });
});
