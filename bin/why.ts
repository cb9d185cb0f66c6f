/** `pergola why`: says whether a role may read or write rows of a running engine, and which clauses of its permissions decide it.
 *  Exit codes: 0 the role may, for every row, 3 it may not or only the write itself could say, 1 no answer, 2 wrong flags.
 *  Not here: flags (why/flags.ts), text (why/print.ts), the answer (engine/admin/explain-access). */
import { perform } from '../operator/engine/request.ts';
import { runCommand } from '../operator/folder/flag-problem.ts';
import { printData } from '../operator/folder/output.ts';
import { EngineProblem } from '../operator/ports/engine-problem.ts';
import { readExplained, verdictsOf } from './why/answer.ts';
import { parseWhyFlags, WHY_HELP, type WhyFlags } from './why/flags.ts';
import { printExplained } from './why/print.ts';

const MAY_NOT = 3;
const MAY: readonly string[] = ['visible', 'allowed'];

export function run(argv: readonly string[]): Promise<number> {
  return runCommand('why', () => parseWhyFlags(argv), explain, { help: WHY_HELP });
}

async function explain({ address, args, output }: WhyFlags): Promise<number> {
  const request = { type: 'pg_explain_access', args };
  const answer = await perform(address, request, (given) => given).catch((error: unknown) => {
    throw error instanceof EngineProblem ? new Error(hinted(error)) : error;
  });
  const explained = readExplained(answer);
  process.stdout.write(output === 'text' ? printExplained(explained, args) : printData(answer, output));
  return verdictsOf(explained).every((verdict) => MAY.includes(verdict)) ? 0 : MAY_NOT;
}

/** Returns the message of the engine, and what to do about one that does not know the operation. */
function hinted({ message, at }: EngineProblem): string {
  const where = at?.startsWith('$.args.') ? ` (${at.slice('$.args.'.length)})` : '';
  // Only the type of the operation is refused at this path.
  return `${message}${where}${at === '$.type' ? '; the engine is older than this command' : ''}`;
}
