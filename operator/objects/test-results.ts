/** The last result of each PermissionTest, with its request, from which the engine finds the permissions that the test covers. Stored with the
 *  ledger, so that the console of the engine can show it. Written only when a result changes, because each write is a version of the metadata,
 *  and bounded.
 *  Pure. In: the stored state, the results of a pass. Out: records, and patches of them. Not here: running tests (pass/permission-tests.ts). */
import type { PermissionTestSpec } from '../kinds/permission-test.ts';
import { type CustomResource, crName } from '../kinds.ts';
import { recordsIn } from './stored-records.ts';
import type { Unserved } from './unserved.ts';

export type TestResultRecord = Unserved & {
  readonly role: string;
  /** The query and its variables as JSON, which a merge of JSON replaces as a whole. Empty when it is too long to be stored. */
  readonly request: string;
};

/** The result of a test in a pass. */
type PassResult = Pick<TestResultRecord, 'reason' | 'message'> & {
  /** True when the test runs after changes of the metadata. */
  readonly isRun: boolean;
};

/** Records by resource, as `PermissionTest namespace/name`. */
export type StoredTestResults = ReadonlyMap<string, TestResultRecord>;

export type TestResultsPatch = Readonly<Record<string, TestResultRecord | null>>;

/** The most records of an engine. */
const MOST_RECORDS = 500;
const MOST_MESSAGE_CHARACTERS = 500;
const MOST_REQUEST_CHARACTERS = 2000;

/** Reads the records from the stored state. Invalid ones are left out. */
export function readTestResults(state: unknown): StoredTestResults {
  return recordsIn<TestResultRecord>(state, 'tests', [
    'manager',
    'role',
    'reason',
    'message',
    'since',
    'request',
  ]);
}

/** Returns the changes that results make to the records of a manager. A test without a decided result keeps its record. */
export function testResultChanges(
  results: ReadonlyMap<CustomResource, PassResult>,
  before: StoredTestResults,
  {
    manager,
    at,
    exists,
  }: {
    readonly manager: string;
    readonly at: Date;
    /** False for names of resources that are known to be deleted. */
    readonly exists: (name: string) => boolean;
  },
): TestResultsPatch {
  const gone = [...before].filter(([name, record]) => record.manager === manager && !exists(name));
  const changes: Record<string, TestResultRecord | null> = Object.fromEntries(
    gone.map(([name]) => [name, null]),
  );
  let left = MOST_RECORDS - before.size + gone.length;
  for (const [cr, outcome] of results) {
    // The test runs with a later pass, which has its result.
    if (outcome.reason === 'NotRun' && outcome.isRun) continue;
    const known = before.get(crName(cr));
    // Two clusters may have resources of one name: they would replace each other's record in turn.
    if (known && known.manager !== manager) continue;
    const record = recordOf(cr, outcome, { manager, since: at.toISOString() });
    if (known && isSame(known, record)) continue;
    if (known || left-- > 0) changes[crName(cr)] = record;
  }
  return changes;
}

function recordOf(
  { spec }: CustomResource,
  { reason, message }: PassResult,
  about: Pick<TestResultRecord, 'manager' | 'since'>,
): TestResultRecord {
  const { role, query, variables } = spec as unknown as PermissionTestSpec;
  const request = JSON.stringify({ query, variables });
  return {
    ...about,
    role,
    reason,
    message: message.slice(0, MOST_MESSAGE_CHARACTERS),
    request: request.length > MOST_REQUEST_CHARACTERS ? '' : request,
  };
}

function isSame(a: TestResultRecord, b: TestResultRecord): boolean {
  const same = (field: keyof TestResultRecord) => a[field] === b[field];
  return same('role') && same('reason') && same('message') && same('request');
}
