/** Objects without their secrets, for those who may look at the metadata and not use what it contains. What may be a secret is marked in the
 *  schemas (`secret` in schema/marks.ts); names of variables, values and files are no secrets.
 *  In: objects in normal form. Out: the same with every secret replaced by a text that is none. Pure, total.
 *  Not here: who may see what (operations.ts). Reference: docs/reference/behaviour/metadata-api.md. */
import { isRecord } from '../json/value.ts';
import { type MetadataObject, OBJECTS } from './objects.ts';
import { SECRET_MARK } from './schema/marks.ts';
import { foreignKindOf } from './schema/source.ts';
import { Marks, type MarkWalk, walkMarks } from './walk-marks.ts';
import { asJsonSchema } from './walk-schema.ts';

/** The text in place of a secret. */
export const HIDDEN = '(hidden)';

/** A session variable, which a permission may set a column to. */
const SESSION_VARIABLE = /^x-engine-[\w-]{1,100}$/i;
/** The beginning of a text that is shown: the scheme and host of a URL without a user, or a reference to a variable. */
const SHOWN = /^(https?:\/\/[^/?#@\s\\]+(?=[/?#]|$)|\{\{\s*[$\w.]+\s*\}\})/;

type Visit = (secret: unknown) => unknown;

const MARKS = new Marks<true>(SECRET_MARK);
const WALK: MarkWalk<true, Visit> = { marks: MARKS, visit: (_, value, visit) => visit(value) };

/** Returns the definition of an object without its secrets. A source that the engine cannot serve is reduced to its name and kind, because
 *  no schema says what else it contains. */
export function withoutSecrets({ kind, definition }: Pick<MetadataObject, 'kind' | 'definition'>): unknown {
  return visited(kind, definition, concealed);
}

/** Returns a function that replaces the secrets of the objects in a text about them. */
export function concealerOf(objects: Iterable<MetadataObject>): (text: string) => string {
  const secrets = new Map<string, string>();
  for (const { kind, definition } of objects) {
    visited(kind, definition, (secret) => {
      for (const text of textsIn(secret)) secrets.set(text, concealedText(text));
      return secret;
    });
  }
  // A secret may contain another one, and messages quote texts as JSON.
  const longestFirst = [...secrets].sort(([a], [b]) => b.length - a.length);
  return (text) =>
    longestFirst.reduce((left, [secret, shown]) => {
      if (left.length < secret.length) return left;
      const quoted = JSON.stringify(secret).slice(1, -1);
      return left.replaceAll(secret, () => shown).replaceAll(quoted, () => shown);
    }, text);
}

function visited(kind: MetadataObject['kind'], definition: unknown, visit: Visit): unknown {
  if (kind === 'source' && isRecord(definition) && foreignKindOf(definition)) {
    const { name, kind: foreign, ...rest } = definition;
    visit(rest);
    return { name, kind: foreign };
  }
  return walkMarks(asJsonSchema(OBJECTS[kind].schema), definition, WALK, visit);
}

/** Returns what is shown in place of a secret. */
export function concealed(secret: unknown): unknown {
  if (typeof secret === 'string') return concealedText(secret);
  return secret === null ? null : HIDDEN;
}

function concealedText(secret: string): string {
  if (SESSION_VARIABLE.test(secret)) return secret;
  const shown = SHOWN.exec(secret)?.[0];
  if (shown === undefined) return HIDDEN;
  return shown === secret ? secret : `${shown}…`;
}

function textsIn(secret: unknown): readonly string[] {
  if (typeof secret === 'string') return secret.length < MIN_LENGTH ? [] : [secret];
  if (typeof secret !== 'object' || secret === null) return [];
  return Object.values(secret).flatMap(textsIn);
}

/** The least length of a secret that is replaced in messages. Shorter ones would be found in every other word. */
const MIN_LENGTH = 4;
