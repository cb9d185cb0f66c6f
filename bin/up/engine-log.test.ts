/** Tests what is printed of the log of the engine, and the file it is kept in. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { deliveryOutput, logFile } from './engine-log.ts';

const REQUEST = { method: 'POST', url: 'http://hook', size: 9 };

function line(type: string, response: unknown, name?: string): string {
  return JSON.stringify({
    level: 'error',
    type,
    detail: { event_id: '1', event_name: name, request: REQUEST, response },
  });
}

const failed = (status: number) => ({ type: 'status', detail: { status, size: 0 } });
const delivered = { status: 200, size: 2 };

function printedFor(...lines: readonly string[]): readonly string[] {
  const printed: string[] = [];
  const receive = deliveryOutput((text) => printed.push(text));
  for (const each of lines) receive(each);
  return printed;
}

test('a failure is printed once for each trigger and reason, and again after a delivery', () => {
  const one = (response: unknown) => line('event-trigger', response, 'one');
  expect(
    printedFor(
      ...[
        one(delivered),
        one(failed(500)),
        one(failed(500)),
        one({ type: 'client', detail: 'ECONNREFUSED' }),
      ],
      ...[
        line('scheduled-trigger', failed(404), 'nightly'),
        one(delivered),
        one(delivered),
        one(failed(500)),
      ],
    ),
  ).toEqual([
    'An event of the event trigger one was not delivered: POST http://hook: it answered with status 500.\n',
    'An event of the event trigger one was not delivered: POST http://hook: ECONNREFUSED.\n',
    'An event of the cron trigger nightly was not delivered: POST http://hook: it answered with status 404.\n',
    'Events of the event trigger one are delivered again.\n',
    'An event of the event trigger one was not delivered: POST http://hook: it answered with status 500.\n',
  ]);
});

test('an event without a trigger is a one-off scheduled event, and lines of other types are not printed', () => {
  const request = { level: 'info', type: 'http-log', detail: { operation: { query: '"event-trigger"' } } };
  expect(
    printedFor(line('scheduled-trigger', failed(500)), JSON.stringify(request), 'no "event-trigger" JSON'),
  ).toEqual([
    'An event of the one-off scheduled events was not delivered: POST http://hook: it answered with status 500.\n',
  ]);
});

test('the file begins anew with each start, is for its user only, and is renamed when it is large', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-log-'));
  try {
    const path = join(folder, 'engine.log');
    logFile(path).write('earlier');
    const log = logFile(path, 10);
    for (const text of ['one two', 'three', 'four']) log.write(text);
    log.close();
    log.write('after the end');
    expect(readFileSync(`${path}.1`, 'utf8')).toBe('one two\nthree\n');
    expect(readFileSync(path, 'utf8')).toBe('four\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
