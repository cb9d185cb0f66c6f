/** Reads custom resources, Secrets and ConfigMaps from a folder, and reports problems of its files.
 *  Reads *.yaml, *.yml and *.json at any depth, with several documents per file and `kind: List`, as kubectl does. A file with any
 *  problem contributes no resources: they count as unseen, and their objects are kept. Documents of other API groups are ignored.
 *  Not here: the meaning of a spec (kinds/validate.ts). */
import { extname, join, relative } from 'node:path';
import { isRecord, parseJson, YAML_SCHEMA } from '@pergola/engine/metadata';
import { loadAll, YAMLException } from 'js-yaml';
import { API_GROUP, GROUP_VERSION, KINDS, kindOf } from '../kinds.ts';
import { yamlProblem } from '../yaml/problem.ts';
import { lineAt, offsetOf, parseTree } from '../yaml/tree.ts';
import { entriesOf, textOfFile } from './paths.ts';

/** A resource as a file contains it. */
export type Manifest = {
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Readonly<Record<string, unknown>>;
  /** The file and line of the resource, relative to the folder: `tables/author.yaml:12`. */
  readonly position: string;
  /** Returns the file and line of a field of the resource, or of its parent if it does not exist. */
  readonly positionOf: (path: readonly (string | number)[]) => string;
};

export type FileProblem = {
  /** The file and line of the problem, relative to the folder. */
  readonly position: string;
  readonly message: string;
};

export type FolderContent = {
  readonly manifests: readonly Manifest[];
  /** The resources of files that have a problem. They are not in `manifests`. */
  readonly spoilt: readonly Manifest[];
  /** The values of Secrets by key, by `namespace/name`. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly configMaps: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly problems: readonly FileProblem[];
  /** The number of resources of each file with a problem. In a text that cannot be parsed, lines that begin with `kind:` count. */
  readonly unread: ReadonlyMap<string, number>;
};

type Fields = Readonly<Record<string, unknown>>;
type Found = Pick<Manifest, 'position' | 'positionOf'> & { readonly fields: Fields };

/** The extensions of files that may contain resources. */
export const MANIFEST_EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);
export const isManifest = (file: string): boolean => MANIFEST_EXTENSIONS.has(extname(file));
export const DEFAULT_NAMESPACE = 'default';

/** A file that may contain resources. */
export type ManifestText = {
  /** The name that positions begin with. */
  readonly name: string;
  readonly text: string;
};

export async function readFolder(folder: string): Promise<FolderContent> {
  return readTexts(await textsIn(folder));
}

/** Returns the files of a folder, with names relative to it. */
export async function textsIn(folder: string): Promise<readonly ManifestText[]> {
  const files = await filesIn(folder, isManifest);
  return Promise.all(
    files.map(async (file) => ({ name: relative(folder, file), text: await textOfFile(file) })),
  );
}

export function readTexts(files: readonly ManifestText[]): FolderContent {
  const contents = files.map(readOne);
  const problems = contents.flatMap((content) => content.problems);
  const all = contents.flatMap(({ manifests, spoilt }) => [...manifests, ...spoilt]);
  const repeated = repetitions(contents.flatMap(({ manifests }) => manifests));
  const spoilt = new Set([...problems, ...repeated].map(({ position }) => fileOf(position)));
  return {
    manifests: all.filter(({ position }) => !spoilt.has(fileOf(position))),
    spoilt: all.filter(({ position }) => spoilt.has(fileOf(position))),
    secrets: new Map(contents.flatMap(({ secrets }) => [...secrets])),
    configMaps: new Map(contents.flatMap(({ configMaps }) => [...configMaps])),
    problems: [...problems, ...repeated],
    unread: new Map(
      files.flatMap(({ name, text }, i) => (spoilt.has(name) ? [[name, countIn(contents[i]!, text)]] : [])),
    ),
  };
}

function countIn({ manifests, spoilt, problems }: FolderContent, text: string): number {
  const read = [...manifests, ...spoilt];
  if (read.length > 0 || problems.length > 1) {
    const counted = new Set(read.map(({ position }) => position));
    return read.length + problems.filter(({ position }) => !counted.has(position)).length;
  }
  return Math.max(1, text.match(/^( {0,2}"kind"|kind):(?!\s*"?List\b)/gm)?.length ?? 0);
}

/** Returns the files below a folder in order, without hidden folders and `node_modules`. */
export async function filesIn(
  folder: string,
  isWanted: (file: string) => boolean,
): Promise<readonly string[]> {
  const entries = await entriesOf(folder);
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

function readOne({ name, text }: ManifestText): FolderContent {
  const problems: FileProblem[] = [];
  const manifests: Manifest[] = [];
  const values = { Secret: new Map<string, Values>(), ConfigMap: new Map<string, Values>() };
  for (const document of documentsOrProblem(text, name, problems)) {
    const read = readDocument(document);
    if (read === undefined) continue;
    if ('message' in read) problems.push(read);
    else if ('values' in read) values[read.holder].set(read.id, read.values);
    else manifests.push(read);
  }
  const isSpoilt = problems.length > 0;
  return {
    manifests: isSpoilt ? [] : manifests,
    spoilt: isSpoilt ? manifests : [],
    secrets: values.Secret,
    configMaps: values.ConfigMap,
    problems,
    unread: new Map(),
  };
}

function documentsOrProblem(text: string, name: string, problems: FileProblem[]): readonly Found[] {
  try {
    return documentsOf(text, name);
  } catch (error) {
    problems.push(problemOf(error, name));
    return [];
  }
}

/** Returns the documents of a file with the line each begins at. A List is replaced by its items. */
function documentsOf(text: string, name: string): readonly Found[] {
  // Documents are parsed one by one to know their lines.
  const starts = [...text.matchAll(/^---(?=\s|$)/gm)].map((match) => match.index);
  const bounds = [...new Set([0, ...starts]), text.length];
  return bounds.slice(0, -1).flatMap((start, i) => {
    const part = text.slice(start, bounds[i + 1]);
    const before = text.slice(0, start).split('\n').length - 1;
    const line = before + 1 + linesBeforeContent(part);
    const position = `${name}:${line}`;
    const documents = parse(part, before);
    if (documents.some(isListOfResources)) throw new SyntaxProblem(line, LIST_OF_RESOURCES);
    return documents.flatMap(itemsOf).map(({ fields, at }) => {
      const positionOf = (path: readonly (string | number)[]) =>
        positionIn(part, [...at, ...path], name, before) ?? position;
      return { fields, position: at.length === 0 ? position : positionOf([]), positionOf };
    });
  });
}

/** Returns the position of a field in a document; undefined for a text whose only document is not the first. */
function positionIn(
  text: string,
  path: readonly (string | number)[],
  name: string,
  linesBefore: number,
): string | undefined {
  const root = parseTree(text).find((document) => document.root)?.root;
  return root && `${name}:${linesBefore + lineAt(text, offsetOf(root, path))}`;
}

function parse(text: string, linesBefore: number): readonly unknown[] {
  try {
    // The result is plain JSON without dates and shared anchors.
    return parseJson(JSON.stringify(loadAll(text, { schema: YAML_SCHEMA }))) as readonly unknown[];
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { line, message } = yamlProblem(error);
    throw new SyntaxProblem(linesBefore + line, message);
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

const LIST_OF_RESOURCES = 'a list of resources; write each as a document of its own, with --- between them';

/** True for a sequence with a resource in it. An API server refuses it, and without a word its resources would be left out. */
function isListOfResources(document: unknown): boolean {
  return Array.isArray(document) && document.some((item) => isRecord(item) && isOfGroup(item));
}

function isOfGroup({ apiVersion }: Fields): boolean {
  return String(apiVersion ?? '').split('/')[0] === API_GROUP;
}

function itemsOf(
  document: unknown,
): readonly { readonly fields: Fields; readonly at: readonly (string | number)[] }[] {
  if (!isRecord(document)) return [];
  if (document['kind'] !== 'List') return [{ fields: document, at: [] }];
  const items: readonly unknown[] = Array.isArray(document['items']) ? document['items'] : [];
  return items.flatMap((fields, i) => (isRecord(fields) ? [{ fields, at: ['items', i] }] : []));
}

type Values = Readonly<Record<string, string>>;
/** A document whose values resources may refer to. */
type ValuesDocument = {
  readonly holder: 'Secret' | 'ConfigMap';
  readonly id: string;
  readonly values: Values;
};

/** The problem of a document that has no apiVersion, and would be left out as one of another API group; undefined when it is no resource.
 *  Without its resource, the objects in the engine would be deleted. */
function missingVersion({ fields, position }: Found): FileProblem | undefined {
  const isResource = kindOf(String(fields['kind'])) !== undefined && isRecord(fields['metadata']);
  if (fields['apiVersion'] !== undefined || !isResource) return undefined;
  return { position, message: `${String(fields['kind'])}: apiVersion is required; write ${GROUP_VERSION}` };
}

/** Reads one document; undefined when it is of another API group. */
function readDocument(found: Found): Manifest | ValuesDocument | FileProblem | undefined {
  const { fields, position, positionOf } = found;
  const [apiVersion, kind] = [String(fields['apiVersion'] ?? ''), String(fields['kind'] ?? '')];
  if (apiVersion === 'v1' && (kind === 'Secret' || kind === 'ConfigMap')) return valuesOf(kind, found);
  if (!isOfGroup(fields)) return missingVersion(found);
  if (apiVersion !== GROUP_VERSION) {
    return { position, message: `apiVersion ${apiVersion} is not known; write ${GROUP_VERSION}` };
  }
  const kinds = KINDS.map((row) => row.kind).join(', ');
  if (!kindOf(kind)) return { position, message: `there is no kind ${kind || '(none)'}; there are ${kinds}` };
  const metadata = isRecord(fields['metadata']) ? fields['metadata'] : {};
  const name = metadata['name'];
  if (name === undefined || name === null || name === '')
    return { position, message: `${kind}: metadata.name is required` };
  if (typeof name !== 'string')
    return { position, message: `${kind}: metadata.name must be a string, and is ${JSON.stringify(name)}` };
  return {
    kind,
    name,
    namespace: namespaceOf(metadata),
    annotations: (metadata['annotations'] ?? {}) as Readonly<Record<string, string>>,
    spec: isRecord(fields['spec']) ? fields['spec'] : {},
    position,
    positionOf,
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

export function fileOf(position: string): string {
  return position.replace(/:\d+$/, '');
}
