/** Reads custom resources, Secrets and ConfigMaps from a folder, and reports problems of its files.
 *  Reads *.yaml, *.yml and *.json at any depth, with several documents per file and `kind: List`, as kubectl does. A file with any
 *  problem contributes no resources: they count as unseen, and their objects are kept. Documents of other API groups are ignored.
 *  Not here: the meaning of a spec (kinds/validate.ts). */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import { isRecord, parseJson, YAML_SCHEMA } from '@pergola/engine/metadata';
import { loadAll, YAMLException } from 'js-yaml';
import { API_GROUP, GROUP_VERSION, KINDS, kindOf } from '../kinds.ts';

/** A resource as a file contains it. */
export type Manifest = {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>>;
  /** The file and line of the resource, relative to the folder: `tables/author.yaml:12`. */
  readonly position: string;
};

export type FileProblem = {
  /** The file and line of the problem, relative to the folder. */
  readonly position: string;
  readonly message: string;
};

export type FolderContent = {
  readonly manifests: readonly Manifest[];
  /** The values of Secrets by key, by `namespace/name`. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly configMaps: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly problems: readonly FileProblem[];
};

type Fields = Readonly<Record<string, unknown>>;
type Found = { readonly fields: Fields; readonly position: string };

/** The extensions of files that may contain resources. */
export const MANIFEST_EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);
export const DEFAULT_NAMESPACE = 'default';

export async function readFolder(folder: string): Promise<FolderContent> {
  const files = await filesIn(folder, (file) => MANIFEST_EXTENSIONS.has(extname(file)));
  const contents = await Promise.all(files.map((file) => readOne(folder, file)));
  const problems = contents.flatMap((content) => content.problems);
  const repeated = repetitions(contents.flatMap(({ manifests }) => manifests));
  const spoilt = new Set(repeated.map(({ position }) => fileOf(position)));
  return {
    manifests: contents
      .flatMap(({ manifests }) => manifests)
      .filter(({ position }) => !spoilt.has(fileOf(position))),
    secrets: new Map(contents.flatMap(({ secrets }) => [...secrets])),
    configMaps: new Map(contents.flatMap(({ configMaps }) => [...configMaps])),
    problems: [...problems, ...repeated],
  };
}

/** Returns the files below a folder in order, without hidden folders and `node_modules`. */
export async function filesIn(
  folder: string,
  isWanted: (file: string) => boolean,
): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const nested = await Promise.all(
    entries
      .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
      .map((entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return filesIn(path, isWanted);
        return isWanted(path) ? [path] : [];
      }),
  );
  return nested.flat().toSorted();
}

async function readOne(folder: string, file: string): Promise<FolderContent> {
  const name = relative(folder, file);
  const problems: FileProblem[] = [];
  const found = await documentsOf(file, name).catch((error: unknown) => {
    problems.push(problemOf(error, name));
    return [];
  });
  const manifests: Manifest[] = [];
  const values = { Secret: new Map<string, Values>(), ConfigMap: new Map<string, Values>() };
  for (const document of found) {
    const read = readDocument(document);
    if (read === undefined) continue;
    if ('message' in read) problems.push(read);
    else if ('values' in read) values[read.holder].set(read.id, read.values);
    else manifests.push(read);
  }
  return {
    manifests: problems.length > 0 ? [] : manifests,
    secrets: values.Secret,
    configMaps: values.ConfigMap,
    problems,
  };
}

/** Returns the documents of a file with the line each begins at. A List is replaced by its items. */
async function documentsOf(file: string, name: string): Promise<readonly Found[]> {
  const text = await readFile(file, 'utf8');
  // Documents are parsed one by one to know their lines.
  const starts = [...text.matchAll(/^---(?=\s|$)/gm)].map((match) => match.index);
  const bounds = [...new Set([0, ...starts]), text.length];
  return bounds.slice(0, -1).flatMap((start, i) => {
    const before = text.slice(0, start).split('\n').length - 1;
    const parsed = parse(text.slice(start, bounds[i + 1]), before);
    const line = before + 1 + linesBeforeContent(text.slice(start, bounds[i + 1]));
    return parsed.flatMap(itemsOf).map((fields) => ({ fields, position: `${name}:${line}` }));
  });
}

function parse(text: string, linesBefore: number): readonly unknown[] {
  try {
    // The result is plain JSON without dates and shared anchors.
    return parseJson(JSON.stringify(loadAll(text, { schema: YAML_SCHEMA }))) as readonly unknown[];
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new SyntaxProblem(linesBefore + (error.mark?.line ?? 0) + 1, error.reason);
  }
}

class SyntaxProblem extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

function linesBeforeContent(text: string): number {
  const lines = text.split('\n');
  return Math.max(
    0,
    lines.findIndex((line) => !/^\s*(#.*|---.*)?$/.test(line)),
  );
}

function itemsOf(document: unknown): readonly Fields[] {
  if (!isRecord(document)) return [];
  if (document['kind'] !== 'List') return [document];
  return Array.isArray(document['items']) ? document['items'].filter(isRecord) : [];
}

type Values = Readonly<Record<string, string>>;
/** A document whose values resources may refer to. */
type ValuesDocument = {
  readonly holder: 'Secret' | 'ConfigMap';
  readonly id: string;
  readonly values: Values;
};

/** Reads one document; undefined when it is of another API group. */
function readDocument(found: Found): Manifest | ValuesDocument | FileProblem | undefined {
  const { fields, position } = found;
  const [apiVersion, kind] = [String(fields['apiVersion'] ?? ''), String(fields['kind'] ?? '')];
  if (apiVersion === 'v1' && (kind === 'Secret' || kind === 'ConfigMap')) return valuesOf(kind, found);
  if (apiVersion.split('/')[0] !== API_GROUP) return undefined;
  if (apiVersion !== GROUP_VERSION) {
    return { position, message: `apiVersion ${apiVersion} is not known; write ${GROUP_VERSION}` };
  }
  const kinds = KINDS.map((row) => row.kind).join(', ');
  if (!kindOf(kind)) return { position, message: `there is no kind ${kind || '(none)'}; there are ${kinds}` };
  const metadata = isRecord(fields['metadata']) ? fields['metadata'] : {};
  const name = metadata['name'];
  if (typeof name !== 'string' || name === '')
    return { position, message: `${kind}: metadata.name is required` };
  return {
    kind,
    name,
    namespace: namespaceOf(metadata),
    annotations: (metadata['annotations'] ?? {}) as Readonly<Record<string, string>>,
    spec: isRecord(fields['spec']) ? fields['spec'] : {},
    position,
  };
}

function valuesOf(holder: ValuesDocument['holder'], { fields }: Found): ValuesDocument {
  const metadata = fieldsAt(fields, 'metadata');
  const isSecret = holder === 'Secret';
  const data = Object.entries(fieldsAt(fields, 'data')).map(([key, value]) => [
    key,
    isSecret ? Buffer.from(String(value), 'base64').toString('utf8') : String(value),
  ]);
  const plain = isSecret ? (fieldsAt(fields, 'stringData') as Values) : {};
  return {
    holder,
    id: `${namespaceOf(metadata)}/${String(metadata['name'])}`,
    values: { ...Object.fromEntries(data), ...plain },
  };
}

function fieldsAt(fields: Fields, key: string): Fields {
  return isRecord(fields[key]) ? fields[key] : {};
}

function namespaceOf(metadata: Fields): string {
  return typeof metadata['namespace'] === 'string' ? metadata['namespace'] : DEFAULT_NAMESPACE;
}

/** Returns a problem for each resource that the folder contains twice. */
function repetitions(manifests: readonly Manifest[]): readonly FileProblem[] {
  const groups = Map.groupBy(manifests, (m) => `${m.kind} ${m.namespace}/${m.name}`);
  return [...groups].flatMap(([name, [first, ...others]]) =>
    others.map(({ position }) => ({
      position,
      message: `${name} is at ${first!.position} too; rename one of them`,
    })),
  );
}

function problemOf(error: unknown, name: string): FileProblem {
  if (error instanceof SyntaxProblem) return { position: `${name}:${error.line}`, message: error.message };
  return { position: name, message: error instanceof Error ? error.message : String(error) };
}

function fileOf(position: string): string {
  return position.replace(/:\d+$/, '');
}
