/** Finds the files of the project that run code, by V8's precise coverage. A file counts if one of its functions runs; types and top-level
 *  code of modules do not. In: a folder and something to run. Out: the names of the functions, by file.
 *  Not here: what runs (hops.ts, engine-hops.ts). */
import { Session } from 'node:inspector/promises';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Returns the functions that run during `body` in files below `folder`, which ends with a slash, in the order of the files' names. */
export async function functionsRunBy(
  folder: string,
  body: () => Promise<unknown>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await body();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const files = result.flatMap(({ url, functions }): (readonly [string, readonly string[]])[] => {
      const file = url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : '';
      const ran = functions.filter(({ ranges }) => ranges.some(({ count }) => count > 0));
      if (!file.startsWith(folder) || file.includes('/testing/') || ran.length === 0) return [];
      return [[file, [...new Set(ran.map(({ functionName }) => functionName).filter(Boolean))]]];
    });
    return new Map(files.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  } finally {
    session.disconnect();
  }
}

/** Prints the files with their functions, and how many there are. */
export function printRun(title: string, files: ReadonlyMap<string, readonly string[]>): void {
  for (const [file, names] of files) console.log(`${file.padEnd(40)} ${names.join(' ')}`);
  console.log(`${files.size} files of ${title}`);
}
