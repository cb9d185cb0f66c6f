/** The example of each kind: deploy/examples/every-kind, which tests apply to a cluster. `kubectl explain` and docs/reference/kinds show it.
 *  Not here: the definitions (generate.ts). */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const FOLDER = join(dirname(import.meta.dirname), 'deploy/examples/every-kind');

/** Returns the file name of a kind without its extension: `remote-schema` for `RemoteSchema`. */
export function fileNameOf(kind: string): string {
  return kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}

/** Returns the manifest with the examples of a kind. */
export function exampleOf(kind: string): string {
  return readFileSync(join(FOLDER, `${fileNameOf(kind)}.yaml`), 'utf8').trimEnd();
}

/** Returns the lines of the spec of the first example of a kind, without `engineRef`, which a resource may leave out. */
export function specExampleOf(kind: string): string {
  const manifest = exampleOf(kind)
    .split(/^---$/m)
    .find((text) => new RegExp(`^kind: ${kind}$`, 'm').test(text));
  const lines = manifest?.split('\n') ?? [];
  const spec = lines.slice(lines.indexOf('spec:') + 1);
  return spec
    .filter((line) => !line.startsWith('  engineRef:'))
    .map((line) => line.slice(2))
    .join('\n')
    .trimEnd();
}
