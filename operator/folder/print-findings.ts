/** The state of an engine for a terminal. Not here: what is wrong (../status/findings.ts), plans and resources (print.ts). */
import { listText } from '@pergola/engine/list-text';
import type { Finding } from '../status/findings.ts';
import { runnable } from './invocation.ts';
import { paint } from './paint.ts';

export type EngineSummary = {
  /** The URL of the engine. */
  readonly engine: string;
  readonly engineVersion: string | undefined;
  readonly resourceVersion: number;
  /** The number of objects that belong to resources. */
  readonly ownedObjects: number;
  /** The tables and views that the engine does not serve: `SOURCE/SCHEMA/TABLE`. */
  readonly untrackedTables: readonly string[];
};

/** The most tables that are named. */
const MOST_NAMED = 5;

/** The state of an engine says nothing about resources that were never applied. */
const NOT_FILES = 'Files are checked by pergola validate -f FOLDER.';

/** Findings of one reason are listed together, and those with the same remedy have it once below them. */
export function printFindings(summary: EngineSummary, findings: readonly Finding[]): string {
  const { engine, engineVersion, resourceVersion, ownedObjects } = summary;
  const head = `${engine}  ${engineVersion ?? 'unknown version'}, metadata version ${resourceVersion}, ${ownedObjects} objects belong to resources`;
  const groups = [...Map.groupBy(findings, ({ reason }) => reason)].flatMap(([reason, same]) => [
    '',
    paint('bold', reason),
    ...[...Map.groupBy(same, ({ remedy }) => remedy)].flatMap(([remedy, found]) => [
      ...found.map(
        ({ message, resource }) =>
          `  ${paint('red', '!')} ${message}${resource === undefined ? '' : paint('dim', `  (${resource})`)}`,
      ),
      `  → ${remedy}`,
    ]),
  ]);
  const count = findings.length;
  const sum =
    count === 0
      ? `${paint('bold', 'Nothing is wrong in the engine.')} ${NOT_FILES}`
      : paint('bold', `${count} ${count === 1 ? 'problem' : 'problems'}.`);
  const untracked = listText(summary.untrackedTables, { most: MOST_NAMED });
  const note =
    untracked === ''
      ? []
      : [`Not in the API: ${untracked}. A Table adds a table; pergola init writes one for each that is new.`];
  return `${runnable([head, ...groups, '', sum, ...note].join('\n'))}\n`;
}
