/** `pergola status`: says what is wrong in an engine now, with the resource to change and what to do. Writes nothing.
 *  Exit codes: 0 nothing is wrong, 1 something is, or the engine does not answer, 2 wrong flags.
 *  Not here: what is wrong (../status/findings.ts). */
import { runCommand } from '../folder/flag-problem.ts';
import { type EngineCommand, parseEngineFlags } from '../folder/flags.ts';
import { printData } from '../folder/output.ts';
import { printFindings } from '../folder/print-findings.ts';
import { untrackedTables } from '../folder/untracked-tables.ts';
import { findingsOf } from '../status/findings.ts';

type StatusOutput = 'text' | 'json' | 'yaml';

const NOTES = `It looks at the engine, not at files: pergola validate checks a folder, pergola plan compares it with the engine.
Databases and remote schemas are checked first. In a cluster, kubectl get pergola -A has the state of each resource.

Exit codes: 0 nothing is wrong, 1 something is wrong or the engine does not answer, 2 wrong flags.

  pergola status --engine http://localhost:8080
`;

const FORM = {
  command: 'status',
  summary: 'say what is wrong in the engine now, and what to do about it',
  outputs: ['text', 'json', 'yaml'],
  notes: NOTES,
} as const;

export function run(argv: readonly string[]): Promise<number> {
  return runCommand('status', () => parseEngineFlags(FORM, argv), show);
}

async function show({ address, engine, output }: EngineCommand<StatusOutput>): Promise<number> {
  const { engineVersion } = await engine.state();
  const reading = await engine.read();
  const findings = findingsOf(reading);
  const { resourceVersion, ledger } = reading;
  const summary = {
    engine: address.url,
    engineVersion,
    resourceVersion,
    ownedObjects: ledger.size,
    untrackedTables: await untrackedTables(address, reading),
  };
  if (output === 'text') process.stdout.write(printFindings(summary, findings));
  else process.stdout.write(printData({ ...summary, findings }, output));
  return findings.length > 0 ? 1 : 0;
}
