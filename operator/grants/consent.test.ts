/** Tests which namespaces an Engine admits, and when its consent counts as changed. Not here: what grants cover (grants.test.ts). */
import { objectKey } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import type { CustomResource } from '../kinds.ts';
import { resource } from '../testing/resources.ts';
import { consentOf, refusalOf } from './consent.ts';

function engine(spec: object): CustomResource {
  return resource('Engine', 'main', { ...spec }, { namespace: 'api' });
}

const labels = (namespace: string) => (namespace === 'team' ? { graphql: 'yes' } : {});
const BY_LABEL = { from: 'Selector', selector: { matchLabels: { graphql: 'yes' } } };

test.each([
  ['its own namespace', undefined, 'api', true],
  ['another, by default', undefined, 'team', false],
  ['another, with Same', { from: 'Same' }, 'team', false],
  ['any, with All', { from: 'All' }, 'else', true],
  ['one with the labels', BY_LABEL, 'team', true],
  ['one without them', BY_LABEL, 'else', false],
  ['its own, whatever its labels', BY_LABEL, 'api', true],
])('an Engine admits only the namespaces it allows: %s', (_, allowedNamespaces, namespace, isLetIn) => {
  const refusal = refusalOf(engine({ allowedNamespaces }), namespace, labels);
  expect(refusal === undefined).toBe(isLetIn);
});

test('a label selector admits no namespace while labels are unknown, and the message has the reason', () => {
  const refusal = refusalOf(engine({ allowedNamespaces: BY_LABEL }), 'team', undefined);
  expect(refusal).toContain('the operator sees no labels');
});

const LET_IN = { from: 'All' };
const GRANT = {
  name: 'team',
  namespaceSelector: { matchLabels: { graphql: 'yes' } },
  sources: ['*'],
  tables: ['*'],
};
const NAMESPACES = new Set(['api', 'team']);
const TABLE = {
  key: objectKey('table', 'default', 'public', 'author'),
  kind: 'table',
  parent: null,
  definition: {},
} as const;

test('a grant with a selector follows the labels of the namespace', () => {
  const consent = (labelsOf?: typeof labels) =>
    consentOf(engine({ allowedNamespaces: LET_IN, grants: [GRANT] }), NAMESPACES, labelsOf);
  expect(consent(labels).objectionTo('team', 'Table', [TABLE])).toBeUndefined();
  expect(consent(() => ({})).objectionTo('team', 'Table', [TABLE])).toContain('namespaces: [team]');
  expect(consent().objectionTo('team', 'Table', [TABLE])).toContain('namespaces: [team]');
  expect(consent(labels).objectionTo('api', 'Table', [TABLE])).toBeUndefined();
});

test.each([
  ['by name', { allowedNamespaces: LET_IN, grants: [{ name: 'a', namespaces: ['team'] }] }, true],
  ['by label', { allowedNamespaces: BY_LABEL }, false],
  ['with a grant by label', { allowedNamespaces: LET_IN, grants: [GRANT] }, false],
])(
  'without known labels, the consent of an Engine that admits namespaces %s is certain: %s',
  (_, spec, expected) => {
    expect(consentOf(engine(spec), NAMESPACES, undefined).isCertain).toBe(expected);
    expect(consentOf(engine(spec), NAMESPACES, labels).isCertain).toBe(true);
  },
);

test('the fingerprint changes only with grants, allowed namespaces and selected labels', () => {
  const fingerprint = (spec: object, labelsOf = labels as (namespace: string) => Record<string, string>) =>
    consentOf(engine({ allowedNamespaces: LET_IN, ...spec }), NAMESPACES, labelsOf).fingerprint;
  const first = fingerprint({ grants: [GRANT] });
  expect(fingerprint({ grants: [GRANT], polling: { versionSeconds: 3 } })).toBe(first);
  expect(fingerprint({ grants: [GRANT] }, () => ({ graphql: 'yes', colour: 'green' }))).toBe(
    fingerprint({ grants: [GRANT] }, () => ({ graphql: 'yes' })),
  );
  expect(fingerprint({ grants: [{ ...GRANT, tables: ['public.*'] }] })).not.toBe(first);
  expect(fingerprint({ grants: [GRANT] }, () => ({}))).not.toBe(first);
  expect(fingerprint({ grants: [GRANT], allowedNamespaces: { from: 'Same' } })).not.toBe(first);
});
