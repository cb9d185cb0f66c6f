/** A spec without what may be a secret, for those who may look at resources and not use what they contain. What may be a secret is marked in the
 *  schemas of the kinds, as in those of the metadata; names of Secrets, variables and files are no secrets.
 *  In: the schema of a spec, any JSON. Out: the same JSON with a text in place of every secret. A value that does not fit its schema, which may be
 *  a secret in a wrong place, is hidden, too. Pure, total.
 *  Not here: objects of the metadata (engine/metadata/without-secrets.ts). */
import { concealed, HIDDEN, isRecord, own, SECRET_MARK, type TSchema } from '@pergola/engine/metadata';

type Shape = TSchema & {
  readonly [SECRET_MARK]?: true;
  readonly 'x-kubernetes-preserve-unknown-fields'?: true;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
};

/** Returns a part of a spec without its secrets. */
export function specWithoutSecrets(schema: Shape, value: unknown): unknown {
  if (schema[SECRET_MARK]) return withoutValues(value);
  if (value === null || schema['x-kubernetes-preserve-unknown-fields']) return value;
  const { items, properties, patternProperties } = schema;
  if (items) return Array.isArray(value) ? value.map((item) => specWithoutSecrets(items, item)) : HIDDEN;
  if (properties) return membersOf(value, (name) => own(properties, name));
  if (patternProperties) {
    const [pattern] = Object.values(patternProperties);
    return membersOf(value, () => pattern);
  }
  return typeof value === 'object' ? HIDDEN : value;
}

/** Returns what is shown of a secret. Of an object the names remain, such as those of columns with presets, and values that are no secrets. */
function withoutValues(secret: unknown): unknown {
  if (!isRecord(secret)) return concealed(secret);
  return Object.fromEntries(Object.entries(secret).map(([name, value]) => [name, concealed(value)]));
}

function membersOf(value: unknown, schemaOf: (name: string) => Shape | undefined): unknown {
  if (!isRecord(value)) return HIDDEN;
  const entries = Object.entries(value).map(([name, member]) => {
    const schema = schemaOf(name);
    return [name, schema ? specWithoutSecrets(schema, member) : HIDDEN] as const;
  });
  return Object.fromEntries(entries);
}
