/** `pergola watch`: applies a folder to an engine, again whenever a file or the engine changes, until Ctrl-C. */

import { parseFlags, reportFailure } from '../folder/flags.ts';
import { follow } from '../folder/follow.ts';
import { watchOutput } from '../folder/watch-output.ts';
import { systemClock } from '../pass/clock.ts';

export async function run(argv: readonly string[]): Promise<number> {
  try {
    const command = parseFlags('watch', 'apply the folder to the engine after each change', argv);
    if (!command) return 0;
    const { source, engine, address, options } = command;
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
    // Fails at once when the folder does not exist, instead of in every iteration.
    await source.snapshot();
    process.stdout.write(`Watching ${source.folder} for ${address.url}. Ctrl-C ends it.\n`);
    await follow(
      { engine, source, sink: source, clock: systemClock },
      {
        folder: source.folder,
        options,
        signal: stop.signal,
        onReport: watchOutput(source, (text) => process.stdout.write(text)),
        onError: (error) => process.stderr.write(`${error.message}\n`),
      },
    );
    return 0;
  } catch (error) {
    return reportFailure('watch', error);
  }
}
