/** Compares the migrations of a folder with the record. In: migrations, rows. Out: the state of every version, and what a run would
 *  have to refuse, each with what to do next. Pure.
 *  Not here: reading either (read-migrations.ts, record.ts), running (run-migrations.ts). */

import { compareVersions, type Migration } from './migration.ts';
import type { RecordRow } from './record.ts';

/** The states of a version, in the words of `pergola migrate status`. */
export type VersionState =
  | 'applied'
  | 'pending'
  /** Pending, below a version that is applied. */
  | 'out-of-order'
  /** Applied, and the file is different now. */
  | 'changed'
  /** Applied, and there is no file. */
  | 'missing'
  /** A run that is at work has begun it. */
  | 'running'
  /** A run ended between two statements: the rest can run. */
  | 'interrupted'
  /** A statement outside of a transaction failed. */
  | 'failed'
  /** A run ended while a statement outside of a transaction ran: it may have had an effect. */
  | 'unknown';

export type AssessedVersion = {
  readonly version: string;
  readonly name: string;
  readonly state: VersionState;
  /** A sentence for people; null for the states that explain themselves. */
  readonly reason: string | null;
  readonly migration: Migration | null;
  readonly row: RecordRow | null;
};

/** Returns the state of each version, in order. `lockHolder` is the session of another run that has the lock; null when none has it. */
export function assess(
  migrations: readonly Migration[],
  rows: readonly RecordRow[],
  lockHolder: string | null = null,
): readonly AssessedVersion[] {
  const files = new Map(migrations.map((migration) => [migration.version, migration]));
  const recorded = new Map(rows.map((row) => [row.version, row]));
  const newest = rows.filter(({ state }) => state === 'applied').at(-1);
  const versions = [...new Set([...files.keys(), ...recorded.keys()])].sort(compareVersions);
  return versions.map((version) => {
    const migration = files.get(version) ?? null;
    const row = recorded.get(version) ?? null;
    const { name } = migration ?? row!;
    return { version, name, migration, row, ...stateOf({ migration, row, newest, lockHolder }) };
  });
}

type Judgement = Pick<AssessedVersion, 'state' | 'reason'>;

type Facts = Pick<AssessedVersion, 'migration' | 'row'> & {
  readonly newest: RecordRow | undefined;
  readonly lockHolder: string | null;
};

function stateOf({ migration, row, newest, lockHolder }: Facts): Judgement {
  if (!row) return stateOfNew(migration!, newest);
  if (row.state !== 'applied') return stateOfUnfinished(row, lockHolder);
  if (!migration) return { state: 'missing', reason: 'it is applied, and its file is gone' };
  if (row.sha256 !== null && row.sha256 !== migration.sha256) {
    return { state: 'changed', reason: 'the file was edited after it was applied' };
  }
  return { state: 'applied', reason: null };
}

function stateOfNew({ version }: Migration, newest: RecordRow | undefined): Judgement {
  if (newest === undefined || compareVersions(version, newest.version) > 0) {
    return { state: 'pending', reason: null };
  }
  return { state: 'out-of-order', reason: `it is not applied, and the later version ${newest.version} is` };
}

function stateOfUnfinished(
  { state, statements, started, finished, error, origin }: RecordRow,
  lockHolder: string | null,
): Judgement {
  const of = statements === null ? '' : ` of ${statements}`;
  if (origin === 'adopted' || started === null) {
    return { state: 'unknown', reason: 'the tool that ran it before recorded that it did not finish' };
  }
  if (state === 'failed') {
    return { state: 'failed', reason: `statement ${started}${of} failed: ${error ?? 'without a message'}` };
  }
  if (lockHolder !== null) {
    return {
      state: 'running',
      reason: `statement ${started}${of} began, and a run is at work (${lockHolder})`,
    };
  }
  if (started === finished) {
    return { state: 'interrupted', reason: `the run ended after statement ${finished}${of}` };
  }
  return {
    state: 'unknown',
    reason: `the run ended during statement ${started}${of}; it may have had its effect or not`,
  };
}

export type Permissions = {
  /** True when pending versions below an applied one may run. */
  readonly allowsOutOfOrder: boolean;
  /** True when the files of applied versions may be missing. */
  readonly allowsMissing: boolean;
  /** The words of an advice for callers that do not have the flags of `pergola migrate up` themselves. */
  readonly words?: AdviceWords | undefined;
};

export type AdviceWords = {
  /** The command that has the flags, such as `pergola migrate up -f migrations`. */
  readonly command: string;
  /** A further advice about an edited file, with a comma and a space at its end. */
  readonly edited?: string | undefined;
};

/** Returns why the versions must not run as they are, each with what to do next. */
export function refusals(versions: readonly AssessedVersion[], permissions: Permissions): readonly string[] {
  return versions.flatMap((assessed) => {
    const advice = adviceFor(assessed, permissions);
    return advice === null ? [] : [`${assessed.version} ${assessed.name}: ${advice}`];
  });
}

function adviceFor(
  { version, state, reason, row, migration }: AssessedVersion,
  { allowsOutOfOrder, allowsMissing, words }: Permissions,
): string | null {
  const run = (flag: string) => (words ? `${words.command} ${flag}` : flag);
  switch (state) {
    case 'applied':
    case 'pending':
    case 'running':
    case 'interrupted':
      return state === 'interrupted' ? editedBefore(row!, migration, run) : null;
    case 'out-of-order':
      return allowsOutOfOrder
        ? null
        : `${reason}; give it a later version, or run it with ${run('--allow-out-of-order')}`;
    case 'missing':
      return allowsMissing ? null : `${reason}; restore it, or continue with ${run('--allow-missing')}`;
    case 'changed':
      return `${reason}; restore it and write another migration, ${words?.edited ?? ''}or accept it with ${run(`--mark-applied ${version}`)}`;
    case 'failed':
    case 'unknown':
      return `${reason}. ${recovery(row!, run)}`;
  }
}

type Run = (flag: string) => string;

function recovery({ version, started, origin }: RecordRow, run: Run): string {
  const marked = run(`--mark-applied ${version}`);
  if (origin === 'adopted' || started === null) {
    return `Look at the database: run it with ${run('--resume-from 1')}, or record it with ${marked}`;
  }
  return (
    `Look at the database: if the statement had no effect, run it with ${run(`--resume-from ${started}`)}; if it had, continue after it with ` +
    `${run(`--resume-from ${started + 1}`)}; if all is done, record that with ${marked}`
  );
}

/** Returns why an interrupted version cannot continue by itself; null when it can. */
function editedBefore({ version, sha256 }: RecordRow, migration: Migration | null, run: Run): string | null {
  if (!migration) return 'the run did not finish it, and its file is gone; restore it';
  if (sha256 === migration.sha256) return null;
  return (
    `the run did not finish it, and its file was edited since; restore it, ` +
    `name the statement to continue with in ${run('--resume-from')}, or record it with ${run(`--mark-applied ${version}`)}`
  );
}
