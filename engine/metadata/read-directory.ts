/** Reads a metadata directory into a document. Follows `!include`, as a tag or as text, relative to its file and never out of the
 *  directory. An error names the file and the path in it.
 *  In: a function that reads a file. Out: the metadata and its files. Pure except for that function.
 *  Not here: writing (directory.ts), the disk (store/directory.ts). Spec: "Metadata directory"; docs/reference/behaviour/metadata.md. */
import { defineScalarTag, loadAll, YAMLException } from 'js-yaml';
import { EngineError, type PathStep, printPath } from '../errors/engine-error.ts';
import { isRecord, type JsonRecord } from '../json/value.ts';
import { joinActions } from './actions-sdl.ts';
import {
  ACTIONS_FILE,
  ACTIONS_SDL_FILE,
  DATABASES_FILE,
  FILES,
  INCLUDE,
  includedFile,
  VERSION_FILE,
} from './directory.ts';
import { CUSTOM_TYPE_CATEGORIES } from './locations.ts';
import { parseDocument } from './parse.ts';
import type { Metadata } from './schema/metadata.ts';
import { unknownKeys } from './unknown-keys.ts';
import { YAML_SCHEMA } from './yaml.ts';

/** An error in a directory. Its message starts with the file. */
export class DirectoryError extends Error {}

/** Returns the text of a file by its path relative to the directory; undefined when there is none. */
type ReadFile = (file: string) => string | undefined;

type DirectoryContent = {
  readonly metadata: Metadata;
  readonly files: ReadonlySet<string>;
  /** The keys that are left out, because the model does not have them: `network.yaml: $.more`. */
  readonly unknown: readonly string[];
};

/** A directory as one document, nothing of which is parsed or checked yet. */
export type RawDirectory = {
  readonly document: JsonRecord;
  readonly files: ReadonlySet<string>;
  /** The unknown keys of files that are not in the document: `version.yaml: $.more`. */
  readonly unknownBeside: readonly string[];
  /** Returns the file and the path in it of a path in the document: `databases/databases.yaml: $[0].kind`. */
  readonly positionOf: (path: readonly PathStep[]) => string;
};

/** The files of older directories, whose only database has its tables at the top. */
const OLDER_FILES = [
  { file: 'tables.yaml', key: 'tables' },
  { file: 'functions.yaml', key: 'functions' },
] as const;

/** Reads a directory. Raises DirectoryError. */
export function fromDirectory(read: ReadFile): DirectoryContent {
  const { document, files, unknownBeside: beside, positionOf } = rawDirectory(read);
  return {
    metadata: explained(() => parseDocument(document), positionOf),
    files,
    unknown: 'sources' in document ? [...beside, ...unknownKeys(document).map(positionOf)] : [],
  };
}

/** Reads a directory without parsing its objects. Raises DirectoryError for files that are no directory. */
export function rawDirectory(read: ReadFile): RawDirectory {
  const reader = new DirectoryReader(read);
  const version = reader.file(VERSION_FILE, []);
  if (!isRecord(version))
    throw new DirectoryError(`${VERSION_FILE} is missing: this is no metadata directory`);
  const sources = reader.file(DATABASES_FILE, ['sources']);
  // A file that was emptied by mistake must not remove every source.
  if (sources === null)
    throw new DirectoryError(`${DATABASES_FILE}: the file is empty; write [] for no sources`);
  const plain = [...(sources === undefined ? OLDER_FILES : []), ...FILES].map(
    ({ file, key }) => [key, reader.file(file, [key])] as const,
  );
  const actions = readActions(reader);
  const whole = { version: version['version'], ...(sources === undefined ? {} : { sources }), ...actions };
  return {
    document: {
      ...whole,
      ...Object.fromEntries(plain.filter(([, value]) => value !== undefined && value !== null)),
    },
    files: reader.files,
    unknownBeside: unknownBeside(reader, version),
    positionOf: (path) => reader.positionOf(path),
  };
}

function unknownBeside({ settings }: DirectoryReader, version: JsonRecord): readonly string[] {
  const types = isRecord(settings) ? settings['custom_types'] : undefined;
  return [
    ...keysBeside(version, ['version']).map((key) => `${VERSION_FILE}: ${printPath([key])}`),
    ...keysBeside(settings, ['actions', 'custom_types']).map((key) => `${ACTIONS_FILE}: ${printPath([key])}`),
    ...keysBeside(types, CUSTOM_TYPE_CATEGORIES).map(
      (key) => `${ACTIONS_FILE}: ${printPath(['custom_types', key])}`,
    ),
  ];
}

function keysBeside(value: unknown, known: readonly string[]): readonly string[] {
  return isRecord(value) ? Object.keys(value).filter((key) => !known.includes(key)) : [];
}

function readActions(reader: DirectoryReader): JsonRecord {
  const settings = reader.actionSettings();
  const sdl = reader.text(ACTIONS_SDL_FILE);
  if ((settings ?? null) === null && sdl === undefined) return {};
  try {
    return joinActions(sdl ?? '', isRecord(settings) ? settings : {});
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw new DirectoryError(`${ACTIONS_SDL_FILE}: ${error.message}`, { cause: error });
  }
}

const includeTag = defineScalarTag('!include', {
  resolve: (file) => INCLUDE + file,
  identify: () => false,
});
const SCHEMA = YAML_SCHEMA.withTags(includeTag);

class DirectoryReader {
  readonly files = new Set<string>();
  settings: unknown;
  readonly #read: ReadFile;
  /** The path in the document at which each file begins, outer files first. */
  readonly #origins: { readonly path: readonly PathStep[]; readonly file: string }[] = [];

  constructor(read: ReadFile) {
    this.#read = read;
  }

  text(file: string): string | undefined {
    const text = this.#read(file);
    if (text !== undefined) this.files.add(file);
    return text;
  }

  /** Returns the content of a file with everything it includes: null when it is empty, undefined when there is no such file. `path`
   *  is its path in the document. */
  file(file: string, path: readonly PathStep[], including: readonly string[] = []): unknown {
    const text = this.text(file);
    if (text === undefined) return undefined;
    this.#origins.push({ path, file });
    return this.#included(parseYaml(text, file), file, path, [...including, file]);
  }

  /** Returns the content of the file of settings of actions and custom types. */
  actionSettings(): unknown {
    this.settings = this.file(ACTIONS_FILE, ['actions']);
    this.#origins.push({ path: ['custom_types'], file: ACTIONS_FILE });
    return this.settings;
  }

  #included(value: unknown, file: string, path: readonly PathStep[], including: readonly string[]): unknown {
    const target = includedFile(value);
    if (target !== undefined) {
      const other = this.#resolve(target, file);
      if (including.includes(other)) throw new DirectoryError(`${file}: ${other} includes itself`);
      const content = this.file(other, path, including);
      if (content === undefined) throw new DirectoryError(`${file}: there is no file ${other} to include`);
      return content;
    }
    if (Array.isArray(value)) {
      return value.map((item, index) => this.#included(item, file, [...path, index], including));
    }
    if (!isRecord(value)) return value;
    const entries = Object.entries(value);
    return Object.fromEntries(
      entries.map(([key, item]) => [key, this.#included(item, file, [...path, key], including)]),
    );
  }

  #resolve(target: string, from: string): string {
    const steps = target.startsWith('/') ? ['..'] : from.split('/').slice(0, -1);
    for (const step of target.split('/')) {
      if (step === '..' && steps.length > 0 && steps.at(-1) !== '..') steps.pop();
      else if (step !== '.') steps.push(step);
    }
    if (steps[0] === '..') throw new DirectoryError(`${from}: ${target} is outside of the directory`);
    return steps.join('/');
  }

  /** Returns the file and the path in it of a path in the document: `databases/databases.yaml: $[0].kind`. */
  positionOf(steps: readonly PathStep[]): string {
    const isAbove = (path: readonly PathStep[]) => path.every((step, i) => step === steps[i]);
    const origin = this.#origins.findLast(({ path }) => path.length > 0 && isAbove(path));
    // The keys of the file of actions are those of the document.
    const above = origin === undefined || origin.file === ACTIONS_FILE ? 0 : origin.path.length;
    return `${origin?.file ?? VERSION_FILE}: ${printPath(steps.slice(above))}`;
  }
}

/** Runs `body` and adds the file to its errors. */
function explained<T>(body: () => T, positionOf: RawDirectory['positionOf']): T {
  try {
    return body();
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw new DirectoryError(`${positionOf(error.path)}: ${error.message}`, { cause: error });
  }
}

/** True when a value contains itself, which YAML can express and JSON cannot. Parts with several references are visited once. */
function holdsItself(value: unknown, around: Set<unknown>, known: Set<unknown>): boolean {
  if (typeof value !== 'object' || value === null || known.has(value)) return false;
  if (around.has(value)) return true;
  around.add(value);
  const isCycle = Object.values(value).some((inner) => holdsItself(inner, around, known));
  around.delete(value);
  known.add(value);
  return isCycle;
}

/** Returns the content of a file; null when it has comments at most. */
function parseYaml(text: string, file: string): unknown {
  try {
    const [content = null, ...more] = loadAll(text, { schema: SCHEMA });
    if (more.length > 0) throw new DirectoryError(`${file}: expected one document, but there are several`);
    if (holdsItself(content, new Set(), new Set()))
      throw new DirectoryError(`${file}: an alias is inside of its anchor`);
    return content;
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new DirectoryError(`${file}: ${error.message}`, { cause: error });
  }
}
