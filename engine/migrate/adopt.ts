/** Takes over the record of the command line of the reference engine: versions that it ran count as applied. In: the record, the files.
 *  Out: rows of the record, and notes about versions that need a decision.
 *  Not here: reading the record (store/foreign-catalog.ts, the engine's `get_catalog_state`). */

import type { Migration } from './migration.ts';
import { addRow, type RecordedRun, readRecord } from './record.ts';

/** Versions of one source, true when the tool recorded that the version did not finish ("dirty"). */
export type ForeignRecord = Readonly<Record<string, boolean>>;

/** Returns the record of one source in a state of the command line: `{migrations: {SOURCE: {VERSION: dirty}}}`. */
export function recordIn(state: unknown, source: string): ForeignRecord {
  const versions = fieldOf(fieldOf(state, 'migrations'), source);
  if (typeof versions !== 'object' || versions === null) return {};
  const valid = Object.entries(versions).filter(([version]) => /^\d{1,18}$/.test(version));
  return Object.fromEntries(
    valid.map(([version, dirty]) => [version.replace(/^0+(?=\d)/, ''), dirty === true]),
  );
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** Adds the versions of another tool's record that ours does not have. Returns notes for people. */
export async function adopt(
  run: RecordedRun,
  files: ReadonlyMap<string, Migration>,
  record: ForeignRecord,
): Promise<readonly string[]> {
  const present = new Set((await readRecord(run.client, run.source)).map(({ version }) => version));
  const added = Object.entries(record).filter(([version]) => !present.has(version));
  for (const [version, isDirty] of added) {
    const file = files.get(version);
    await addRow(run, {
      version,
      name: file?.name ?? 'adopted',
      sha256: file?.sha256 ?? null,
      statements: file?.statements.length ?? null,
      state: isDirty ? 'failed' : 'applied',
      origin: 'adopted',
    });
  }
  const unfinished = added.filter(([, isDirty]) => isDirty).map(([version]) => version);
  return [
    `${added.length} of ${Object.keys(record).length} recorded versions adopted`,
    ...(unfinished.length > 0 ? [`recorded as unfinished: ${unfinished.join(', ')}`] : []),
  ];
}
