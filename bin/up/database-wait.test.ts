/** Tests what is printed while the engine waits for its database. */
import { expect, test } from 'vitest';
import { databaseWaitOutput } from './engine-log.ts';

const line = (detail: unknown) => JSON.stringify({ level: 'warn', type: 'metadata', detail });
const waits = (attempt: number, reason: string) =>
  line({ kind: 'metadata database unreachable', attempt, reason });

test('each reason is printed once, and other lines are not', () => {
  const printed: string[] = [];
  const receive = databaseWaitOutput((text) => printed.push(text));
  const lines = [
    waits(1, 'connect ECONNREFUSED'),
    waits(2, 'connect ECONNREFUSED'),
    waits(3, 'database "shop" does not exist'),
    line({ operation: { query: '"metadata database unreachable"' } }),
    'no JSON: "metadata database unreachable"',
  ];
  for (const each of lines) receive(each);
  expect(printed).toEqual([
    'Waiting for the database: connect ECONNREFUSED.\n',
    'Waiting for the database: database "shop" does not exist.\n',
  ]);
});
