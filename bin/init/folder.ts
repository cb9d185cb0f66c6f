/** The folder that `pergola init` writes to, as it is before: the metadata of its resources, where each object is, the names that are taken,
 *  and what earlier runs offered. Out: a Folder; an empty one when there is no folder. Raises FolderProblem when a file cannot be read.
 *  Not here: reading files (operator/folder/read-folder.ts), writing (write.ts). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  EngineError,
  type Metadata,
  type MetadataObject,
  metadataOf,
  objectKey,
} from '../../engine/metadata/index.ts';
import { parseKey } from '../../engine/metadata/objects.ts';
import { filesIn, type Manifest, readFolder } from '../../operator/folder/read-folder.ts';
import { FolderProblem } from '../../operator/folder/write-folder.ts';
import { SpecProblem } from '../../operator/kinds/kind.ts';
import { problemsOf } from '../../operator/kinds/validate.ts';
import { kindOf } from '../../operator/kinds.ts';
import { normalised } from '../../operator/objects/normal-form.ts';

export type Folder = {
  /** The source with its tables and functions, as the resources of the folder declare them. */
  readonly metadata: Metadata;
  /** The file and line of the resource of each object, by key. */
  readonly positions: ReadonlyMap<string, string>;
  /** The resources of the folder: `Table author`. */
  readonly names: ReadonlySet<string>;
  /** Every file of the folder, relative to it. */
  readonly files: ReadonlySet<string>;
  /** The keys of objects that earlier runs wrote. */
  readonly offered: ReadonlySet<string>;
};

/** The file with the keys of what init has written, so that it does not write again what people removed. */
export const RECORD_FILE = '.pergola-init';

/** The kinds of objects that say what is declared already. */
const KINDS_READ: ReadonlySet<string> = new Set([
  ...['source', 'table', 'object_relationship', 'array_relationship', 'computed_field'],
  ...['remote_relationship', 'select_permission', 'function'],
]);

export async function readTarget(path: string | undefined, source: string): Promise<Folder> {
  const content = path === undefined ? undefined : await orAbsent(readFolder(path));
  const [problem] = content?.problems ?? [];
  if (problem) {
    throw new FolderProblem(
      `${path}/${problem.position}: ${problem.message}; correct the file, or name another folder with -o`,
    );
  }
  const manifests = content?.manifests ?? [];
  const declared = manifests.flatMap((manifest) =>
    objectsOfManifest(manifest).map((object) => ({ object, position: manifest.position })),
  );
  const objects = new Map(declared.map(({ object }) => [object.key, object]));
  const files = path === undefined ? [] : ((await orAbsent(filesIn(path, () => true))) ?? []);
  return {
    metadata: metadataOf(ofSource(objects, source)),
    positions: new Map(declared.map(({ object, position }) => [object.key, position])),
    names: new Set(manifests.map(({ kind, name }) => `${kind} ${name}`)),
    files: new Set(files.map((file) => file.slice(join(path ?? '', '/').length))),
    offered: new Set(path === undefined ? [] : await readRecord(path)),
  };
}

async function orAbsent<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'ENOTDIR') throw new FolderProblem(`${path} is not a folder; name a folder`);
    throw error;
  }
}

async function readRecord(path: string): Promise<readonly string[]> {
  const text = await orAbsent(readFile(join(path, RECORD_FILE), 'utf8'));
  return (text ?? '').split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

/** Returns the objects of a manifest; none for one that validate rejects. */
function objectsOfManifest({ kind, spec }: Manifest): readonly MetadataObject[] {
  const row = kindOf(kind)!;
  if (problemsOf(row, spec).length > 0) return [];
  try {
    const objects = row.translate(spec, { valueFrom: () => ({ from_env: 'VALUE' }) });
    return objects.filter((object) => KINDS_READ.has(object.kind)).map(normalised);
  } catch (error) {
    if (error instanceof SpecProblem || error instanceof EngineError) return [];
    throw error;
  }
}

/** Returns the source, which may be absent in the folder, and the objects below it whose parents are there. */
function ofSource(objects: ReadonlyMap<string, MetadataObject>, name: string): readonly MetadataObject[] {
  const key = objectKey('source', name);
  const kept = new Map<string, MetadataObject>([[key, objects.get(key) ?? sourceObject(name)]]);
  const depth = (object: MetadataObject) => parseKey(object.key)?.segments.length ?? 0;
  for (const object of [...objects.values()].toSorted((left, right) => depth(left) - depth(right))) {
    if (object.parent !== null && kept.has(object.parent)) kept.set(object.key, object);
  }
  return [...kept.values()];
}

function sourceObject(name: string): MetadataObject {
  const configuration = { connection_info: { database_url: { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' } } };
  const definition = { name, kind: 'postgres', tables: [], configuration };
  return { key: objectKey('source', name), kind: 'source', parent: null, definition };
}
