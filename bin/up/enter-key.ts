/** The Enter key on the terminal of `pergola up`. Input is not read while the process is in the background: the shell would stop it.
 *  In: the standard input. Not here: what the key does (../up.ts). */
import { processInfo } from './processes.ts';

/** Calls `onEnter` for each line that is typed. Returns a function that ends this. */
export function watchEnter(input: NodeJS.ReadStream, onEnter: () => void): () => void {
  const read = () => {
    if (processInfo(process.pid)?.isForeground) input.resume();
    else input.pause();
  };
  input.on('data', onEnter);
  // A terminal that is closed.
  input.on('error', () => {});
  process.on('SIGCONT', read);
  read();
  return () => {
    process.off('SIGCONT', read);
    input.off('data', onEnter);
    input.pause();
  };
}
