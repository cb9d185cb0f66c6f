/** `pergola watch`: applies resources to an engine, again whenever a file or the engine changes, until Ctrl-C. */

import { FlagProblem, runCommand } from '../folder/flag-problem.ts';
import { type FolderCommand, parseFlags } from '../folder/flags.ts';
import { follow } from '../folder/follow.ts';
import { STANDARD_INPUT } from '../folder/read-inputs.ts';
import { watchOutput } from '../folder/watch-output.ts';
import { systemClock } from '../pass/clock.ts';

const NOTES = `What the inputs no longer contain is deleted: give all resources of the manager.

Exit codes: 0 ended by Ctrl-C, 1 an input cannot be read, 2 wrong flags.
`;

const FORM = {
  command: 'watch',
  summary: 'apply the resources to the engine, again after each change, until Ctrl-C',
  outputs: ['text'],
  without: ['fail-on', 'prune'],
  notes: NOTES,
} as const;

export function run(argv: readonly string[]): Promise<number> {
  return runCommand('watch', () => parseFlags(FORM, argv), watch);
}

async function watch({ source, engine, address, options }: FolderCommand<'text'>): Promise<number> {
  if (source.inputs.includes(STANDARD_INPUT)) {
    throw new FlagProblem('standard input does not change; give a folder or a file: -f FOLDER');
  }
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  // Nobody would see what it does any more.
  process.stdout.on('error', () => stop.abort());
  // Fails at once when an input does not exist, instead of in every iteration.
  await source.snapshot();
  process.stdout.write(`Watching ${source.inputs.join(', ')} for ${address.url}. Ctrl-C ends it.\n`);
  await follow(
    { engine, source, sink: source, clock: systemClock },
    {
      inputs: source.inputs,
      options,
      signal: stop.signal,
      onReport: watchOutput(source, (text) => process.stdout.write(text)),
      onError: (error) => process.stderr.write(`${error.message}\n`),
    },
  );
  return 0;
}
