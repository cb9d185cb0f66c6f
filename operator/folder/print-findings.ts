/** The state of an engine for a terminal. Not here: what is wrong (../status/findings.ts), plans and resources (print.ts). */
import type { Finding } from '../status/findings.ts';
import { paint } from './paint.ts';

export type EngineSummary = {
  /** The URL of the engine. */
  readonly engine: string;
  readonly engineVersion: string | undefined;
  readonly resourceVersion: number;
  /** The number of objects that belong to resources. */
  readonly ownedObjects: number;
};

/** The state of an engine says nothing about resources that were never applied. */
const NOT_FILES = 'Files are checked by pergola validate -f FOLDER.';

/** Findings of one reason are listed together, with what to do once. */
export function printFindings(summary: EngineSummary, findings: readonly Finding[]): string {
  const { engine, engineVersion, resourceVersion, ownedObjects } = summary;
  const head = `${engine}  ${engineVersion ?? 'unknown version'}, metadata version ${resourceVersion}, ${ownedObjects} objects belong to resources`;
  const groups = [...Map.groupBy(findings, ({ reason }) => reason)].flatMap(([reason, same]) => [
    '',
    paint('bold', reason),
    ...same.flatMap(({ message, resource }) => [
      `  ${paint('red', '!')} ${message}${resource === undefined ? '' : paint('dim', `  (${resource})`)}`,
    ]),
    `  → ${same[0]!.remedy}`,
  ]);
  const count = findings.length;
  const sum =
    count === 0
      ? `${paint('bold', 'Nothing is wrong in the engine.')} ${NOT_FILES}`
      : paint('bold', `${count} ${count === 1 ? 'problem' : 'problems'}.`);
  return `${[head, ...groups, '', sum].join('\n')}\n`;
}
