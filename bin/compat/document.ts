/** The metadata that `pergola compat` judges, as it was written: of a metadata directory, or of a running engine.
 *  Out: the document without any parsing, so that nothing of it is dropped before it is judged, and what of a directory is not in it.
 *  Not here: judging (judge.ts), reading the files (engine/store/directory.ts). */
import { load } from 'js-yaml';
import type { PathStep } from '../../engine/errors/engine-error.ts';
import { isRecord, type JsonRecord } from '../../engine/json/value.ts';
import { printPath, YAML_SCHEMA } from '../../engine/metadata/index.ts';
import { upgrade } from '../../engine/metadata/parse.ts';
import { readRawDirectory, unreadFiles } from '../../engine/store/directory.ts';
import type { EngineAddress } from '../../operator/engine/address.ts';
import { UnexpectedAnswer } from '../../operator/engine/answers.ts';
import { operation, perform } from '../../operator/engine/request.ts';
import { textOfFile } from '../../operator/folder/paths.ts';
import { EngineProblem } from '../../operator/ports/engine-problem.ts';

export type GivenDocument = {
  readonly document: JsonRecord;
  readonly positionOf: (path: readonly PathStep[]) => string;
  /** The positions of keys that are not in the document. */
  readonly unknownBeside: readonly string[];
  /** The files of the directory that are not read. */
  readonly unread: readonly string[];
};

/** Returns the document of a directory. Raises DirectoryError. */
export function documentOfFolder(folder: string): GivenDocument {
  const { document, files, unknownBeside, positionOf } = readRawDirectory(folder);
  const isOlder = !('sources' in document);
  return {
    document: upgrade(document) as JsonRecord,
    // The paths of an older document are not those of its files.
    positionOf: isOlder ? printPath : positionOf,
    unknownBeside,
    unread: unreadFiles(folder, files),
  };
}

/** Returns the document of a file, as `export_metadata` returns it or with the version beside it. Raises Error for other content. */
export async function documentOfFile(file: string): Promise<GivenDocument> {
  const content = load(await textOfFile(file), { schema: YAML_SCHEMA });
  try {
    return { document: documentIn(content), positionOf: printPath, unknownBeside: [], unread: [] };
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`${file} has no metadata (${reason}); name it, or the folder of version.yaml`, {
      cause: error,
    });
  }
}

/** Returns the metadata of a running engine. Throws EngineProblem. */
export async function documentOfEngine(address: EngineAddress): Promise<GivenDocument> {
  try {
    const document = await perform(address, operation('export_metadata', {}, 2), documentIn);
    return { document, positionOf: printPath, unknownBeside: [], unread: [] };
  } catch (error) {
    if (!(error instanceof EngineProblem) || error.kind !== 'unauthorized') throw error;
    // The flags are others than those of the engine that is compared with it.
    throw new Error(
      `${error.message}\nGive the secret with --from-secret or HASURA_GRAPHQL_ADMIN_SECRET, and another header prefix with --from-header-prefix.`,
      { cause: error },
    );
  }
}

function documentIn(answer: unknown): JsonRecord {
  const metadata = isRecord(answer) ? (answer['metadata'] ?? answer) : answer;
  if (!isRecord(metadata)) throw new UnexpectedAnswer('at $: expected the metadata');
  return upgrade(metadata) as JsonRecord;
}
