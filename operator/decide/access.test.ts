/** Tests the words for changes of access, and which of them are gains and losses. Comparing is in engine/metadata/access. */
import { type AccessChange, isBreaking, isGaining, wideningParts } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { accessLine, lossText } from './access.ts';

const part = (verdict: 'wider' | 'narrower' | 'other', name = 'query') =>
  ({ name, verdict, before: 'a', after: 'b' }) as const;
const RUN = { key: 'query_collection/c', on: 'c.one', operation: 'run', role: null } as const;
const REQUEST = { key: 'rest_endpoint/e', on: 'e', operation: 'request', role: null } as const;
const SEND = { key: 'api_limits', on: 'requests', operation: 'send', role: 'r', change: 'changed' } as const;
const CALL = { key: 'function/s/public/f', on: 'public.f', operation: 'call', role: null } as const;
const SELECT = {
  key: 'select_permission/s/public/t/r',
  on: 'public.t',
  operation: 'select',
  role: 'r',
} as const;
const INHERIT = { key: 'inherited_role/r', on: '', operation: 'inherit', role: 'r' } as const;
const OPEN = { key: 'remote_schema/billing', on: 'billing', operation: 'call', role: null } as const;
const CONNECT = { on: 'main', operation: 'connect', role: null } as const;
const ADDRESS = {
  change: 'changed',
  verdict: 'other',
  parts: [{ name: 'address', verdict: 'other', before: null, after: 'another' }],
} as const;
const granted = { change: 'granted', verdict: 'wider', parts: [] } as const;
const revoked = { change: 'revoked', verdict: 'narrower', parts: [] } as const;
const changed = (verdict: 'wider' | 'narrower' | 'other', name?: string) =>
  ({ change: 'changed', verdict, parts: [part(verdict, name)] }) as const;

test.each<readonly [AccessChange, string, effects: string]>([
  [{ ...RUN, ...granted }, 'every role may run the query c.one', 'gain'],
  [{ ...RUN, ...granted, except: ['x', 'y'] }, 'every role but x, y may run the query c.one', 'gain'],
  [{ ...RUN, ...revoked }, 'no role may run the query c.one any more', 'break'],
  [{ ...RUN, ...revoked, except: ['x'] }, 'no role but x may run the query c.one any more', 'break'],
  [{ ...RUN, role: 'r', ...revoked }, 'r may no longer run the query c.one', 'break'],
  [{ ...RUN, ...changed('other') }, 'the query c.one changes for every role: query: a → b', 'gain, break'],
  [{ ...REQUEST, ...granted }, 'every role may request the endpoint e', 'gain'],
  [{ ...REQUEST, ...revoked }, 'no role may request the endpoint e any more', 'break'],
  [{ ...REQUEST, ...changed('wider') }, 'the endpoint e changes for every role: query: a → b', 'gain'],
  [{ ...REQUEST, ...changed('narrower') }, 'the endpoint e changes for every role: query: a → b', 'break'],
  [{ ...SEND, ...changed('narrower', 'depth') }, 'requests of r are limited more: depth: a → b', 'break'],
  [{ ...SEND, ...changed('wider', 'depth') }, 'requests of r are limited less: depth: a → b', 'gain'],
  [{ ...CALL, ...granted }, 'every role that reads its table may call public.f', 'gain'],
  [
    { ...CALL, ...revoked, except: ['x'] },
    'no role but x that reads its table may call public.f any more',
    '',
  ],
  [
    { ...SELECT, ...granted, isInherited: true },
    'r may select public.t, by the roles that it inherits from',
    'gain',
  ],
  [{ ...SELECT, ...revoked }, 'r may no longer select public.t', ''],
  [{ ...INHERIT, ...granted }, 'r may inherit from other roles', 'gain'],
  [{ ...INHERIT, ...revoked }, 'r may no longer inherit from other roles', ''],
  [
    { ...SELECT, ...changed('wider', 'filter'), isInherited: true },
    'r reaches more of public.t (select, by the roles that it inherits from): filter: a → b',
    'widen, gain',
  ],
  [
    { ...SELECT, ...changed('other', 'columns') },
    'r reaches something else; whether more or less is not decided: columns: a → b',
    'gain',
  ],
  [
    {
      ...SELECT,
      change: 'changed',
      verdict: 'other',
      isIndirect: true,
      parts: [{ name: 'code', verdict: 'other', before: null, after: 'the native query q has another text' }],
    },
    'r reaches something else of public.t (select); whether more or less is not decided: code: the native query q has another text',
    'widen, gain',
  ],
  [
    { ...SELECT, ...changed('wider', 'native_queries'), isIndirect: true },
    'r reaches more of public.t (select): native_queries: a → b',
    'gain',
  ],
  [
    { ...CALL, role: 'r', ...changed('other', 'session_argument'), isIndirect: true },
    'r reaches something else of public.f (call); whether more or less is not decided: session_argument: a → b',
    'widen, gain',
  ],
  [
    { ...CALL, ...changed('other', 'response') },
    'every role that reads its table reaches something else of public.f (call); whether more or less is not decided: response: a → b',
    'widen, gain',
  ],
  [
    { ...CALL, ...changed('other', 'exposed_as') },
    'every role that reads its table reaches something else of public.f (call); whether more or less is not decided: exposed_as: a → b',
    'gain',
  ],
  [{ ...OPEN, ...granted }, 'every role may call billing', 'gain'],
  [{ ...OPEN, ...revoked }, 'no role may call billing any more', ''],
  [
    { ...CONNECT, key: 'source/main', ...ADDRESS },
    'every role reads another database through the source main',
    '',
  ],
  [
    { ...CONNECT, key: 'remote_schema/main', ...ADDRESS },
    'every role reads another service through the remote schema main',
    '',
  ],
])('%j: %s', (change, line, effects) => {
  const found = [
    wideningParts(change).length > 0 ? 'widen' : '',
    isGaining(change) ? 'gain' : '',
    isBreaking(change) ? 'break' : '',
  ].filter((effect) => effect !== '');
  expect([accessLine(change), found.join(', ')]).toEqual([line, effects]);
});

test('what clients lose is a sentence', () => {
  expect(lossText({ ...RUN, ...revoked })).toBe('The query c.one is no longer allowed');
  expect(lossText({ ...REQUEST, ...revoked })).toBe('The endpoint e is gone');
  expect(lossText({ ...REQUEST, ...changed('other', 'url') })).toBe('The endpoint e changes: url: a → b');
  expect(lossText({ ...SEND, ...changed('narrower', 'depth') })).toBe(
    'The limits of requests change: depth: a → b',
  );
});
