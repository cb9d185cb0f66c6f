/** The mapping from a spec to the metadata, in the schema of the spec: where the object has the value of a field, and in which form. A field
 *  that says nothing has its own name in snake_case there, and the same form.
 *  In: schemas. Out: the same schemas with a mapping, which JSON Schema does not see. Pure.
 *  Not here: the translation by these mappings (projection.ts), the objects of a resource (parts.ts). */
import { type PathStep, type TProperties, type TSchema, Type } from '@pergola/engine/metadata';
import { withDescription } from './annotate.ts';

type KeyRef = { readonly name: string; readonly key: string };

/** A value that the resource contains or refers to. Exactly one field is set. */
export type ValueSource = {
  readonly value?: string | undefined;
  readonly secretKeyRef?: KeyRef | undefined;
  readonly configMapKeyRef?: KeyRef | undefined;
  readonly env?: string | undefined;
  readonly file?: string | undefined;
};

/** A value as the metadata contains it: text, or where the engine reads it: an environment variable, its store of named values, or a file. */
export type MetadataValue =
  | string
  | { readonly from_env: string }
  | { readonly from_value: string }
  | { readonly from_file: string };

export type TranslateContext = {
  /** Returns the value as the metadata contains it. `path` is that of the source in the spec. Throws SpecProblem when the value cannot be
   *  read. */
  readonly valueFrom: (source: ValueSource, path: string) => MetadataValue;
};

export type FieldValues = Readonly<Record<string, unknown>>;

/** The surroundings of a value of a spec that is translated. */
export type FieldContext = {
  readonly context: TranslateContext;
  /** The path of the value: `spec.headers[0]`. */
  readonly path: string;
};

/** The surroundings of a value of a spec that is described. */
export type DescribeContext = {
  /** The path of the value below the spec. */
  readonly path: readonly PathStep[];
  /** Returns the source of a text that belongs into a Secret. */
  readonly keep: (text: string, path: readonly PathStep[]) => ValueSource;
};

/** The form of a value in the metadata. Absent values have no form. */
export type MetadataForm = {
  /** Returns the value of the metadata. It gets the value with its members translated, unless the form is whole. */
  // biome-ignore lint/suspicious/noExplicitAny: the schema with the form defines the type of its value
  readonly write: (value: any, writing: FieldContext) => unknown;
  /** Returns what `write` gets, the inverse. */
  // biome-ignore lint/suspicious/noExplicitAny: the schema of the metadata defines the type of its value
  readonly read: (value: any, reading: DescribeContext) => unknown;
  /** True when the members of the value are not translated on their own. */
  readonly isWhole?: boolean;
  /** Returns what the metadata has when the field is absent in `owner`. */
  readonly absent?: (owner: FieldValues) => unknown;
  /** The value of the spec when the metadata has none. */
  readonly missing?: unknown;
  /** Returns the path in what `write` gets. Absent: the same, and none in a whole form. */
  readonly path?: (path: readonly PathStep[], value: unknown) => readonly PathStep[];
  /** The members of the object that hold the value, when it has none of its own. */
  readonly members?: readonly string[];
};

const TO = Symbol('to');
const FORM = Symbol('form');

type Mapped = { readonly [TO]?: readonly string[] | null; readonly [FORM]?: MetadataForm };

/** Returns the schema of a value with its form in the metadata. */
export function inForm<T extends TSchema>(schema: T, form: MetadataForm): T {
  return { ...schema, [FORM]: form };
}

export function formOf(schema: TSchema): MetadataForm | undefined {
  return (schema as Mapped)[FORM];
}

/** Returns the schema of a list whose items are the members of an object by their field `key`. `value` is the only other member of an item;
 *  without it a member has the item without its key. */
export function asRecord<T extends TSchema>(key: string, list: T, value?: string): T {
  return inForm(list, {
    write: (items: readonly FieldValues[]) =>
      Object.fromEntries(items.map(({ [key]: name, ...rest }) => [name, value ? rest[value] : rest])),
    read: (record: Readonly<Record<string, object>>) =>
      Object.entries(record).map(([name, own]) => ({ [key]: name, ...(value ? { [value]: own } : own) })),
    path: ([name, ...rest], items) => {
      const index =
        (items as readonly FieldValues[] | undefined)?.findIndex((item) => item[key] === name) ?? -1;
      return index < 0 ? [] : [index, ...(value ? [value] : []), ...rest];
    },
  });
}

/** Returns the schema of a list in which `["*"]` stands for all; the metadata has the text `*`. `absent` is what it has without the field. */
export function allOrListed<T extends TSchema>(list: T, absent?: '*'): T {
  return inForm(list, {
    write: (items: readonly string[]) => (items.length === 1 && items[0] === '*' ? '*' : items),
    read: (items) => (items === '*' ? ['*'] : items),
    absent: () => absent,
  });
}

/** Returns a required field of a spec. `to` is its path in the object, such as `definition.timeout`: empty for a value whose members are those
 *  of the object, null for a value that the object does not have, absent for the name in snake_case. */
export function required<T extends TSchema>(description: string, schema: T, to?: string | null): T {
  return mappedTo(to, withDescription(description, schema));
}

/** Returns an optional field of a spec. */
export function optional<T extends TSchema>(description: string, schema: T, to?: string | null) {
  return Type.Optional(required(description, schema, to));
}

/** Returns a field with another path in the object. */
export function mappedTo<T extends TSchema>(to: string | null | undefined, field: T): T {
  return to === undefined ? field : { ...field, [TO]: to === null ? null : to.split('.').filter(Boolean) };
}

/** Returns the fields with their paths below a member of the object. */
export function within<P extends TProperties>(member: string, fields: P): P {
  const { required: needed = [] } = Type.Object(fields) as { readonly required?: readonly string[] };
  const moved = Object.entries(fields).map(([name, field]) => {
    const to = pathInObject(name, field);
    const placed = mappedTo(to && [member, ...to].join('.'), field);
    return [name, needed.includes(name) ? placed : Type.Optional(placed)];
  });
  return Object.fromEntries(moved) as P;
}

/** Returns the path of a field in the object; null for a field that the object does not have. */
export function pathInObject(name: string, field: TSchema): readonly string[] | null {
  const { [TO]: to } = field as Mapped;
  return to === undefined ? [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] : to;
}
