/** `pergola compat`: compares the metadata, the schemas and the answers of an engine of the reference with this engine, object by object,
 *  role by role and operation by operation. Nothing is changed, except by recorded mutations that are sent on purpose.
 *  Exit codes: 0 the same, 1 something differs or has no effect, 2 something could not be compared, or wrong flags.
 *  Not here: flags (compat/flags.ts), each comparison (compat/), text (compat/print.ts). */
import { statSync } from 'node:fs';
import { DIFFERENCES, remedyOf } from '../engine/config/compatibility.ts';
import { engineClient } from '../operator/engine/client.ts';
import { runCommand } from '../operator/folder/flag-problem.ts';
import { printData } from '../operator/folder/output.ts';
import { besideEngine } from './compat/beside-engine.ts';
import { documentOfEngine, documentOfFile, documentOfFolder, type GivenDocument } from './compat/document.ts';
import { COMPAT_HELP, type CompatFlags, parseCompatFlags } from './compat/flags.ts';
import { judge, type ObjectFinding } from './compat/judge.ts';
import { printCompat } from './compat/print.ts';
import { readRecording } from './compat/recording.ts';
import { replay } from './compat/replay.ts';
import { type CompatReport, EXIT, exitCodeOf, objectReports } from './compat/report.ts';
import { compareSchemas } from './compat/schemas.ts';

export function run(argv: readonly string[]): Promise<number> {
  return runCommand('compat', () => parseCompatFlags(argv), compat, {
    help: COMPAT_HELP,
    errorCode: EXIT.unknown,
  });
}

async function compat(flags: CompatFlags): Promise<number> {
  const report = await compare(flags);
  process.stdout.write(flags.output === 'text' ? printCompat(report) : printData(report, flags.output));
  return exitCodeOf(report);
}

async function compare(flags: CompatFlags): Promise<CompatReport> {
  const { folder, from, to, recording, accepted } = flags;
  // The file is read first: a mistake in it must not cost the time of the comparison.
  const operations = recording === undefined ? [] : await readRecording(recording);
  const given = folder === undefined ? await documentOfEngine(from!) : await documentAt(folder);
  const { objects, findings } = judge(given, { ...flags, hasEngine: to !== undefined });
  const beside = to === undefined ? undefined : await findingsBeside(given, flags, to);
  const hasBoth = from !== undefined && to !== undefined;
  return {
    metadata: objectReports(objects, beside ? [...findings, ...beside] : findings, accepted),
    options: optionsThatDiffer(flags),
    schemas: hasBoth ? await compareSchemas(from, to, given.document) : [],
    operations: hasBoth ? await replay(from, to, operations, flags) : [],
  };
}

function documentAt(path: string): GivenDocument | Promise<GivenDocument> {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? documentOfFile(path) : documentOfFolder(path);
}

/** Returns what a running engine has otherwise. What has no effect is known to the engine, with its own options. */
async function findingsBeside(
  { document }: GivenDocument,
  { givenPrefix }: CompatFlags,
  to: NonNullable<CompatFlags['to']>,
): Promise<readonly ObjectFinding[]> {
  return besideEngine(document, givenPrefix, await engineClient(to).read());
}

/** Returns the options whose default differs, as far as the flags do not say otherwise. Limits that no known client reaches are left out. */
function optionsThatDiffer({
  headerPrefix,
  givenPrefix,
  isCompatible,
}: CompatFlags): CompatReport['options'] {
  const rows = DIFFERENCES.filter(({ option, isInSwitch }) =>
    option === 'header-prefix' ? headerPrefix !== givenPrefix : isInSwitch && !isCompatible,
  );
  return rows.map((row) => ({ option: row.option, what: row.what, remedy: remedyOf(row) }));
}
