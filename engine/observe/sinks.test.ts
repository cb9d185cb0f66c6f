/** Tests the shape of log lines. */
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RequestFinished } from './observation.ts';
import { type LogOptions, openLog } from './sinks.ts';

const REQUEST: RequestFinished = {
  kind: 'request finished',
  requestId: 'r1',
  method: 'POST',
  path: '/v1/graphql',
  ip: '127.0.0.1',
  httpVersion: '1.1',
  status: 200,
  durationMs: 5,
  responseSizeBytes: 12,
  sessionVariables: { 'x-engine-role': 'user' },
  mode: 'single',
  error: null,
  query: { query: '{ a }' },
};

function linesOf(
  options: Partial<LogOptions>,
  ...observed: Parameters<ReturnType<typeof openLog>['observe']>[0][]
) {
  const file = join(mkdtempSync(join(tmpdir(), 'pergola-log-')), 'log');
  const log = openLog({ logLevel: 'info', enabledLogTypes: ['http-log'], ...options }, openSync(file, 'w'));
  observed.forEach(log.observe);
  log.flush();
  const text = readFileSync(file, 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

test('a finished request is one line of timestamp, level, type and detail', () => {
  const [line] = linesOf({}, REQUEST);
  expect(Object.keys(line).sort()).toEqual(['detail', 'level', 'timestamp', 'type']);
  expect(line).toMatchObject({
    level: 'info',
    type: 'http-log',
    detail: {
      request_id: 'r1',
      operation: { query_execution_time: 0.005, response_size: 12, user_vars: { 'x-engine-role': 'user' } },
      http_info: { status: 200, url: '/v1/graphql', http_version: 'HTTP/1.1', method: 'POST' },
    },
  });
});

test('session variables have the names that clients use', () => {
  const [line] = linesOf({ headerPrefix: 'x-other-' }, REQUEST);
  expect(line.detail.operation.user_vars).toEqual({ 'x-other-role': 'user' });
});

test('the query is logged only when it failed', () => {
  const [good, bad] = linesOf({}, REQUEST, { ...REQUEST, error: { code: 'x' } });
  expect(good.detail.operation.query).toBeNull();
  expect(bad).toMatchObject({ level: 'error', detail: { operation: { query: { query: '{ a }' } } } });
});

test('a probe is logged when its result turns, and every other request each time', () => {
  const probe = (path: string, status: number): RequestFinished => ({
    ...REQUEST,
    path,
    status,
    mode: 'non-graphql',
  });
  const results = [200, 200, 500, 500, 200, 200];
  const statuses = (lines: readonly { detail: { http_info: { status: number } } }[]) =>
    lines.map(({ detail }) => detail.http_info.status);
  for (const path of ['/healthz', '/livez', '/v1alpha1/config']) {
    const observed = results.map((status) => probe(path, status));
    expect(statuses(linesOf({}, ...observed))).toEqual([200, 500, 500, 200]);
    expect(statuses(linesOf({ logLevel: 'debug' }, ...observed))).toEqual(results);
  }
  expect(statuses(linesOf({}, REQUEST, REQUEST))).toEqual([200, 200]);
});

test('disabled types and lower levels are not written', () => {
  expect(linesOf({ enabledLogTypes: [] }, REQUEST)).toEqual([]);
  expect(linesOf({ logLevel: 'error' }, REQUEST)).toEqual([]);
});

test('an unexpected error is logged with its cause', () => {
  const [line] = linesOf({}, { kind: 'unexpected', requestId: 'r2', error: new Error('boom') });
  expect(line).toMatchObject({ level: 'error', detail: { request_id: 'r2', message: 'boom' } });
  expect(line.detail.stack).toContain('sinks.test.ts');
});

test('credentials that expire after the latest possible date expire at that date', () => {
  const event = { kind: 'websocket', event: 'accepted', connectionId: 'c', sessionVariables: null } as const;
  const [line] = linesOf({ enabledLogTypes: ['websocket-log'] }, { ...event, expiresAt: 1e24, detail: null });
  expect(line.detail.connection_info.jwt_expiry).toBe('+275760-09-13T00:00:00.000Z');
});
