/** Names the sources in stack traces of bundles. Node would read all source maps at the start, 8 MB of memory; here the first stack trace does.
 *  Plain JavaScript, like pergola.mjs. Not here: how bundles and their maps are built (bundle.ts). */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';

/** The source map of each file; null for a file without one. */
const maps = new Map();

export function nameSources() {
  Error.prepareStackTrace = (error, frames) => [text(error), ...frames.map(printed)].join('\n    at ');
}

function text(error) {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return 'Error';
  }
}

function printed(frame) {
  const file = frame.getFileName();
  const place = file === null ? undefined : placeIn(file, frame.getLineNumber(), frame.getColumnNumber());
  const line = String(frame);
  return place
    ? line.replace(`${file}:${frame.getLineNumber()}:${frame.getColumnNumber()}`, () => place)
    : line;
}

function placeIn(file, line, column) {
  const { originalSource, originalLine, originalColumn } = mapOf(file)?.findEntry(line - 1, column - 1) ?? {};
  if (originalSource === undefined) return undefined;
  return `${new URL(originalSource, file).href}:${originalLine + 1}:${originalColumn + 1}`;
}

function mapOf(file) {
  let map = maps.get(file);
  if (map === undefined) {
    map = readMap(file);
    maps.set(file, map);
  }
  return map;
}

function readMap(file) {
  if (!file.startsWith('file:')) return null;
  try {
    return new SourceMap(JSON.parse(readFileSync(new URL(`${file}.map`), 'utf8')));
  } catch {
    return null;
  }
}
