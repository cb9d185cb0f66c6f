/** `pergola watch`: makes an engine be what a folder says, again whenever a file or the engine changes, until Ctrl-C. */

import { parseFlags, reportFailure } from '../folder/flags.ts';
import { follow } from '../folder/follow.ts';
import { watchOutput } from '../folder/watch-output.ts';
import { systemClock } from '../pass/clock.ts';

export async function run(argv: readonly string[]): Promise<number> {
  try {
    const command = parseFlags('watch', 'keep the engine what the folder says', argv);
    if (!command) return 0;
    const { source, engine, address, options } = command;
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
    // Fails at once, rather than every half second, when there is no such folder.
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
