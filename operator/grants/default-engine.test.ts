/** Tests which Engine a resource has. */
import { expect, test } from 'vitest';
import { engineKeyOf, isUnboundKey, missingEngineText, type NamespaceFacts } from './default-engine.ts';

const facts = (engines: readonly string[], annotation?: string): NamespaceFacts => ({
  enginesIn: (namespace) => (namespace === 'team-a' ? engines : []),
  defaultEngineOf: (namespace) => (namespace === 'team-a' ? annotation : undefined),
});
const keyOf = (given: NamespaceFacts, engineRef?: object) =>
  engineKeyOf({ metadata: { namespace: 'team-a' }, spec: engineRef ? { engineRef } : {} } as never, given);

test.each<[string, NamespaceFacts, object | undefined, string]>([
  ['engineRef', facts(['other'], 'third'), { name: 'main' }, 'team-a/main'],
  ['engineRef with a namespace', facts([]), { name: 'main', namespace: 'api' }, 'api/main'],
  ['the annotation', facts(['other'], 'main'), undefined, 'team-a/main'],
  ['the annotation with a namespace', facts(['other'], 'api/main'), undefined, 'api/main'],
  ['the only Engine', facts(['main']), undefined, 'team-a/main'],
  ['none of several Engines', facts(['main', 'other']), undefined, 'team-a/'],
  ['no Engine', facts([]), undefined, 'team-a/'],
  ['no Engine for a malformed annotation', facts(['main'], 'a/b/c'), undefined, 'team-a/'],
  ['no Engine for an empty annotation', facts(['main'], ''), undefined, 'team-a/'],
])('%s', (_, given, engineRef, key) => {
  expect(keyOf(given, engineRef)).toBe(key);
});

test.each<[NamespaceFacts, RegExp]>([
  [
    facts([]),
    /spec\.engineRef is absent and the namespace team-a has no Engine; name one in spec\.engineRef, or/,
  ],
  [facts(['b', 'a']), /has 2 Engines \(a, b\)/],
  [
    facts(['main'], 'A b'),
    /default-engine of the namespace team-a is "A b"; it must be NAME or NAMESPACE\/NAME/,
  ],
])('an unbound resource learns what is missing', (given, text) => {
  const key = keyOf(given);
  expect(isUnboundKey(key)).toBe(true);
  expect(missingEngineText(key, given)).toMatch(text);
});

test('a missing Engine is named', () => {
  expect(missingEngineText('team-a/main', facts([]))).toBe('there is no Engine team-a/main');
});
