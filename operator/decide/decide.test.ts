/** Tests the decision for each combination of ledger, desired object and live object. */
import type { MetadataObject } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import type { LedgerEntry } from '../objects/ledger.ts';
import { hashOf, normalised } from '../objects/normal-form.ts';
import { table } from '../testing/resources.ts';
import { type DecisionAction, decide } from './decide.ts';
import type { Claim, Desired } from './desired.ts';

const KEY = 'table/default/public/author';
const object = (customName?: string): MetadataObject =>
  normalised({
    key: KEY,
    kind: 'table',
    parent: 'source/default',
    definition: {
      table: { schema: 'public', name: 'author' },
      ...(customName ? { configuration: { custom_name: customName } } : {}),
    },
  });
const entryOf = (version: MetadataObject, more: Partial<LedgerEntry> = {}): LedgerEntry => ({
  manager: 'test',
  uid: 'u',
  cr: 'Table default/author',
  generation: 1,
  hash: hashOf(version),
  deletionPolicy: 'Delete',
  ...more,
});

const [old, wanted, tampered] = [object('Old'), object('Wanted'), object('Tampered')];

type Case = {
  ledger?: MetadataObject;
  wanted?: MetadataObject;
  live?: MetadataObject;
  policies?: Partial<Claim['policies']>;
  entry?: Partial<LedgerEntry>;
  held?: boolean;
  present?: boolean;
  mayPrune?: boolean;
};

function actionFor(given: Case): DecisionAction | 'nothing' {
  const policies = { drift: 'Correct', adoption: 'IfEqual', deletion: 'Delete', ...given.policies } as const;
  const claim = given.wanted && {
    object: given.wanted,
    hash: hashOf(given.wanted),
    cr: table('author'),
    policies,
    values: new Map<string, string>(),
    isAtHome: true,
  };
  const desired: Desired = {
    claims: new Map(claim ? [[KEY, claim]] : []),
    kept: new Set(given.held ? [KEY] : []),
    revoked: new Map(),
    reserved: new Map(),
    values: new Map(),
    outcomes: new Map(),
    present: new Set(given.present ? ['Table default/author'] : []),
  };
  const objects = new Map(given.ledger ? [[KEY, entryOf(given.ledger, given.entry)]] : []);
  const { decisions } = decide(
    desired,
    { manager: 'test', objects },
    new Map(given.live ? [[KEY, given.live]] : []),
    {
      manager: 'test',
      pruneGuard: { maxObjects: 0, maxPercent: 100 },
      at: new Date(0),
      mayPrune: given.mayPrune ?? true,
    },
  );
  return decisions[0]?.action ?? 'nothing';
}

test.each<[string, Case, DecisionAction | 'nothing']>([
  ['an object outside the ledger that no resource claims is left alone', { live: old }, 'nothing'],
  ['a desired object that does not exist is created', { wanted }, 'create'],
  ['an existing object that equals the desired one becomes owned', { wanted, live: wanted }, 'own'],
  [
    'an existing equal object is not adopted with the policy Never',
    { wanted, live: wanted, policies: { adoption: 'Never' } },
    'refuseAdoption',
  ],
  ['an existing object that differs is not adopted by default', { wanted, live: old }, 'refuseAdoption'],
  [
    'an existing object that differs is adopted with the policy Always',
    { wanted, live: old, policies: { adoption: 'Always' } },
    'adopt',
  ],
  [
    'an owned object that equals the desired one is unchanged',
    { ledger: wanted, wanted, live: wanted },
    'unchanged',
  ],
  ['an owned object is updated when the desired one changes', { ledger: old, wanted, live: old }, 'update'],
  [
    'an object changed by hand to the desired form is unchanged',
    { ledger: old, wanted, live: wanted },
    'unchanged',
  ],
  ['an object changed by hand is corrected', { ledger: wanted, wanted, live: tampered }, 'correct'],
  [
    'an object changed by hand is corrected when the desired one changes as well',
    { ledger: old, wanted, live: tampered },
    'correct',
  ],
  [
    'a change by hand is only reported with the policy Report',
    { ledger: old, wanted, live: tampered, policies: { drift: 'Report' } },
    'reportDrift',
  ],
  [
    'a change by hand is ignored with the policy Ignore',
    { ledger: old, wanted, live: tampered, policies: { drift: 'Ignore' } },
    'ignoreDrift',
  ],
  ['an object removed by hand is restored', { ledger: wanted, wanted }, 'correct'],
  [
    'a removal by hand is only reported with the policy Report',
    { ledger: wanted, wanted, policies: { drift: 'Report' } },
    'reportDrift',
  ],
  ['an owned object that is no longer desired is deleted', { ledger: old, live: old }, 'delete'],
  [
    'an object changed by hand that is no longer desired is deleted',
    { ledger: old, live: tampered },
    'delete',
  ],
  [
    'an object that is no longer desired and no longer exists is removed from the ledger',
    { ledger: old },
    'forget',
  ],
  [
    'a retained object of a deleted resource is only removed from the ledger',
    { ledger: old, live: old, entry: { deletionPolicy: 'Retain' } },
    'forget',
  ],
  [
    'an object that its existing resource no longer contains is deleted even if retained',
    { ledger: old, live: old, entry: { deletionPolicy: 'Retain' }, present: true },
    'delete',
  ],
  [
    'an object that is no longer desired is kept while deletions are not allowed',
    { ledger: old, live: old, mayPrune: false },
    'keep',
  ],
  ['an object whose resource cannot be read is kept', { ledger: old, live: old, held: true }, 'keep'],
  [
    'an object of another manager that is not desired is left alone',
    { ledger: old, live: old, entry: { manager: 'other' } },
    'nothing',
  ],
])('%s', (_, given, action) => {
  expect(actionFor(given)).toBe(action);
});

test('two spellings of the same definition are equal', () => {
  const short: MetadataObject = {
    key: KEY,
    kind: 'table',
    parent: 'source/default',
    definition: { is_enum: false, table: 'author', configuration: {} },
  };
  expect(hashOf(normalised(short))).toBe(hashOf(object()));
  expect(actionFor({ ledger: object(), wanted: object(), live: short })).toBe('unchanged');
});
