/** Reads a file of recorded operations for `pergola compat --replay`: a list in YAML or JSON, or one JSON object in each line.
 *  Raises Error with the file and the entry. Not here: sending them (replay.ts). */
import { extname } from 'node:path';
import { load, YAMLException } from 'js-yaml';
import { isRecord } from '../../engine/json/value.ts';
import { parseJson, validate, YAML_SCHEMA } from '../../engine/metadata/index.ts';
import { type Static, Type } from '../../engine/metadata/schema/type.ts';
import { asJsonSchema } from '../../engine/metadata/walk-schema.ts';
import { textOfFile } from '../../operator/folder/paths.ts';

const Texts = Type.Record(Type.String(), Type.String());

const RecordedOperation = Type.Object(
  {
    name: Type.Optional(Type.String()),
    role: Type.Optional(Type.String()),
    session: Type.Optional(Texts),
    headers: Type.Optional(Texts),
    query: Type.String({ minLength: 1 }),
    variables: Type.Optional(Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()])),
    operationName: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    // Of a subscription: the number of results that are compared.
    results: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false },
);
export type RecordedOperation = Static<typeof RecordedOperation>;

export async function readRecording(file: string): Promise<readonly RecordedOperation[]> {
  const text = await textOfFile(file);
  const list = entriesIn(text, file);
  if (!Array.isArray(list) || list.length === 0) throw new Error(`${file}: expected a list of operations`);
  return list.map((entry: unknown, i) => {
    try {
      if (!isRecord(entry)) throw new Error('expected an object with a query');
      validate(asJsonSchema(RecordedOperation), entry);
      return entry as RecordedOperation;
    } catch (error) {
      throw new Error(`${file}: operation ${i + 1}: ${(error as Error).message}`, { cause: error });
    }
  });
}

function entriesIn(text: string, file: string): unknown {
  try {
    if (extname(file) !== '.jsonl') return load(text, { schema: YAML_SCHEMA });
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return lines.map((line): unknown => parseJson(line));
  } catch (error) {
    if (!(error instanceof YAMLException || error instanceof SyntaxError)) throw error;
    throw new Error(`${file}: ${error.message}`, { cause: error });
  }
}
