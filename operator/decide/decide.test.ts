/** The table of three: what the ledger says, what is wanted, what is there. */
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
  };
  const desired: Desired = {
    claims: new Map(claim ? [[KEY, claim]] : []),
    kept: new Set(given.held ? [KEY] : []),
    revoked: new Map(),
    reserved: new Map(),
    outcomes: new Map(),
    present: new Set(given.present ? ['Table default/author'] : []),
  };
  const objects = new Map(given.ledger ? [[KEY, entryOf(given.ledger, given.entry)]] : []);
  const { decisions } = decide(
    desired,
    { manager: 'test', objects },
    new Map(given.live ? [[KEY, given.live]] : []),
    { manager: 'test', pruneGuard: { maxObjects: 0, maxPercent: 100 }, mayPrune: given.mayPrune ?? true },
  );
  return decisions[0]?.action ?? 'nothing';
}

test.each<[string, Case, DecisionAction | 'nothing']>([
  ['nobody knows it, nobody wants it', { live: old }, 'nothing'],
  ['wanted and not there', { wanted }, 'create'],
  ['wanted, there, equal, not ours', { wanted, live: wanted }, 'own'],
  [
    'the same, never to be adopted',
    { wanted, live: wanted, policies: { adoption: 'Never' } },
    'refuseAdoption',
  ],
  ['wanted, there, different, not ours', { wanted, live: old }, 'refuseAdoption'],
  ['the same, always to be adopted', { wanted, live: old, policies: { adoption: 'Always' } }, 'adopt'],
  ['as written, as wanted', { ledger: wanted, wanted, live: wanted }, 'unchanged'],
  ['as written, wanted otherwise', { ledger: old, wanted, live: old }, 'update'],
  ['not as written, but as wanted', { ledger: old, wanted, live: wanted }, 'unchanged'],
  ['changed by hand', { ledger: wanted, wanted, live: tampered }, 'correct'],
  ['changed by hand and wanted otherwise', { ledger: old, wanted, live: tampered }, 'correct'],
  [
    'changed by hand, to be reported',
    { ledger: old, wanted, live: tampered, policies: { drift: 'Report' } },
    'reportDrift',
  ],
  [
    'changed by hand, to be ignored',
    { ledger: old, wanted, live: tampered, policies: { drift: 'Ignore' } },
    'ignoreDrift',
  ],
  ['removed by hand', { ledger: wanted, wanted }, 'correct'],
  [
    'removed by hand, to be reported',
    { ledger: wanted, wanted, policies: { drift: 'Report' } },
    'reportDrift',
  ],
  ['no longer wanted', { ledger: old, live: old }, 'delete'],
  ['no longer wanted, changed by hand', { ledger: old, live: tampered }, 'delete'],
  ['no longer wanted, gone already', { ledger: old }, 'forget'],
  [
    'its resource is gone, to be retained',
    { ledger: old, live: old, entry: { deletionPolicy: 'Retain' } },
    'forget',
  ],
  [
    'its resource is there and no longer says so, though to be retained',
    { ledger: old, live: old, entry: { deletionPolicy: 'Retain' }, present: true },
    'delete',
  ],
  ['no longer wanted, and nothing may be deleted now', { ledger: old, live: old, mayPrune: false }, 'keep'],
  ['its resource cannot be read', { ledger: old, live: old, held: true }, 'keep'],
  ['of another manager, not wanted', { ledger: old, live: old, entry: { manager: 'other' } }, 'nothing'],
])('%s', (_, given, action) => {
  expect(actionFor(given)).toBe(action);
});

test('equal meaning is equal, however it is written', () => {
  const short: MetadataObject = {
    key: KEY,
    kind: 'table',
    parent: 'source/default',
    definition: { is_enum: false, table: 'author', configuration: {} },
  };
  expect(hashOf(normalised(short))).toBe(hashOf(object()));
  expect(actionFor({ ledger: object(), wanted: object(), live: short })).toBe('unchanged');
});
