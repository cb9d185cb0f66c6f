/** `pergola rollback [VERSION]`: lists the versions of the stored metadata, or goes back to one, in the metadata database and without an engine.
 *  For a document on which no engine starts; a running engine has `rollback_metadata`. With `--to-release` it takes the tables of the metadata
 *  database back to those of an earlier release.
 *  Exit codes: 0 done, 1 not, 2 flags. Not here: revisions (engine/store/revisions.ts), the tables (engine/store/downgrade.ts). */
import { openDatabase } from '../engine/database/pool.ts';
import { thrownMessage } from '../engine/errors/engine-error.ts';
import { DowngradeRefused, EARLIER } from '../engine/store/downgrade.ts';
import type { Revision } from '../engine/store/revisions.ts';
import { Store } from '../engine/store/store.ts';
import { FlagProblem, reportFailure } from '../operator/folder/flag-problem.ts';
import { type Flag, flagLines, parseFlagTable, textOf } from '../operator/folder/flag-table.ts';

const FLAGS = {
  'database-url': {
    value: 'URL',
    doc: 'the metadata database; default ENGINE_GRAPHQL_METADATA_DATABASE_URL, else ENGINE_GRAPHQL_DATABASE_URL',
  },
  'to-release': {
    value: 'RELEASE',
    doc: `take the tables back to those of ${EARLIER.release}, so that its engine starts; stop all engines first`,
  },
  discard: { doc: 'with --to-release: delete what the earlier tables cannot hold' },
  help: { short: 'h', doc: 'print this help' },
} as const satisfies Record<string, Flag>;

const HELP = `pergola rollback: go back to an earlier version of the metadata while no engine starts on the stored one.

  pergola rollback       lists the versions that are kept, newest first, and whether each can be read
  pergola rollback 41    stores the metadata of version 41 as the newest version
  pergola rollback --to-release ${EARLIER.release}   makes the database usable for the engine of that release

${flagLines(FLAGS)}

The operator's ledger stays as it is: the operator restores what resources declare. Databases are not changed. A running engine follows, and
goes back by itself with rollback_metadata, which also checks the databases.
`;

/** The most versions that are listed, and kept until the next write of an engine. */
const MOST_LISTED = 1000;
const BY = { author: 'admin', client: 'pergola rollback', operations: ['rollback_metadata'] };

export async function run(argv: readonly string[]): Promise<number> {
  try {
    const { values, words } = parseFlagTable(FLAGS, argv, { hasWords: true });
    if (values['help'] === true) {
      process.stdout.write(HELP);
      return 0;
    }
    const version = versionOf(words);
    const release = releaseOf(textOf(values, 'to-release'), version, values['discard'] === true);
    const database = openDatabase(urlOf(textOf(values, 'database-url')), { maxConnections: 2 });
    try {
      const store = new Store(database, MOST_LISTED);
      if (release !== undefined) await downgradeTables(store, values['discard'] === true);
      else if (version === undefined) await list(store);
      else await restore(store, version);
    } finally {
      await database.close();
    }
    return 0;
  } catch (error) {
    return reportFailure('rollback', error);
  }
}

function versionOf([word, ...more]: readonly string[]): number | undefined {
  if (word === undefined) return undefined;
  if (more.length > 0 || !/^\d+$/.test(word)) {
    throw new FlagProblem(`one VERSION is expected, a number such as 41, not ${[word, ...more].join(' ')}`);
  }
  return Number(word);
}

function releaseOf(
  release: string | undefined,
  version: number | undefined,
  discards: boolean,
): string | undefined {
  if (release === undefined) {
    if (discards) throw new FlagProblem('--discard is for --to-release');
    return undefined;
  }
  if (version !== undefined) throw new FlagProblem('--to-release goes with no VERSION');
  if (release !== EARLIER.release) {
    throw new FlagProblem(
      `--to-release is ${EARLIER.release}; engines of later releases read the tables of the next one`,
    );
  }
  return release;
}

async function downgradeTables(store: Store, discards: boolean): Promise<void> {
  try {
    const deleted = await store.downgrade(discards);
    for (const what of deleted) process.stdout.write(`deleted: ${what}\n`);
    process.stdout.write(`the metadata database is that of release ${EARLIER.release}\n`);
  } catch (error) {
    if (!(error instanceof DowngradeRefused)) throw error;
    const hint = error.canDiscard
      ? 'with --discard they are deleted'
      : 'remove it with an engine of this release first';
    throw new Error(`${error.message}; nothing was changed: ${hint}`, { cause: error });
  }
}

function urlOf(flag: string | undefined): string {
  const { ENGINE_GRAPHQL_METADATA_DATABASE_URL: metadata, ENGINE_GRAPHQL_DATABASE_URL: other } = process.env;
  const url = flag ?? metadata ?? other;
  if (!url) throw new FlagProblem('--database-url is missing');
  return url;
}

async function list(store: Store): Promise<void> {
  for (const revision of await store.revisions(MOST_LISTED)) {
    process.stdout.write(`${await lineOf(store, revision)}\n`);
  }
}

async function lineOf(store: Store, revision: Revision): Promise<string> {
  const { resourceVersion, writtenAt, author, client, operations } = revision;
  const who = client === null ? author : `${author} with ${client}`;
  const what = operations.length === 0 ? '' : `: ${operations.join(', ')}`;
  const problem = await problemOf(store, resourceVersion);
  const state = problem === undefined ? '' : `; cannot be read: ${problem}`;
  return `${resourceVersion}  ${writtenAt.toISOString()}  ${who}${what}${state}`;
}

async function problemOf(store: Store, version: number): Promise<string | undefined> {
  try {
    await store.revision(version);
    return undefined;
  } catch (error) {
    return thrownMessage(error);
  }
}

async function restore(store: Store, version: number): Promise<void> {
  const { resource } = await store.restore(version, BY);
  process.stdout.write(`the metadata of version ${version} is now version ${resource}\n`);
}
