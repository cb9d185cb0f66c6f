/** Steps of a conversion: functions from the fields of an object of the old form to those of the new form. A step changes only what it
 *  recognises as old, so it leaves the new form and unknown fields as they are, and keeps the order of fields.
 *  Pure. Not here: which steps a kind has (conversions.ts). */
import { isRecord } from '@pergola/engine/metadata';

export type Fields = Readonly<Record<string, unknown>>;

/** Adds a note for the user. `path` is that of the field within the object of the step. */
export type Note = (path: string, text: string) => void;

export type Conversion = (fields: Fields, note: Note) => Fields;

/** Returns one step for several. */
export function steps(...all: readonly Conversion[]): Conversion {
  return (fields, note) => all.reduce((result, step) => step(result, note), fields);
}

/** Renames a field and keeps its value. */
export function rename(from: string, to: string): Conversion {
  return (fields) => replace(fields, from, (value) => ({ [to]: value }));
}

/** Removes a field, with a note that says why; without a text it is removed silently. */
export function remove(field: string, text?: string): Conversion {
  return (fields, note) => {
    if (!(field in fields)) return fields;
    if (text !== undefined) note(field, text);
    return without(fields, field);
  };
}

/** Applies steps to the object in a field. */
export function inside(field: string, ...all: readonly Conversion[]): Conversion {
  const step = steps(...all);
  return (fields, note) => {
    const value = fields[field];
    if (!isRecord(value)) return fields;
    return set(
      fields,
      field,
      step(value, (path, text) => note(`${field}.${path}`, text)),
    );
  };
}

/** Applies steps to each object of a list. */
export function each(field: string, ...all: readonly Conversion[]): Conversion {
  const step = steps(...all);
  return (fields, note) => {
    const value = fields[field];
    if (!Array.isArray(value)) return fields;
    const items = value.map((item, i) =>
      isRecord(item) ? step(item, (path, text) => note(`${field}[${i}].${path}`, text)) : item,
    );
    return set(fields, field, items);
  };
}

/** Replaces the values of an enumeration, of a field or of each item of its list, by their PascalCase form. `exceptions` has the values
 *  whose new form is not the old one in PascalCase. Only the `old` values are replaced. */
export function enumeration(
  field: string,
  old: readonly string[],
  exceptions: Readonly<Record<string, string>> = {},
): Conversion {
  const names = new Map([
    ...old.map((value) => [value, pascalCase(value)] as const),
    ...Object.entries(exceptions),
  ]);
  const converted = (value: unknown) => (typeof value === 'string' ? (names.get(value) ?? value) : value);
  return (fields) =>
    field in fields
      ? set(
          fields,
          field,
          Array.isArray(fields[field]) ? fields[field].map(converted) : converted(fields[field]),
        )
      : fields;
}

/** The schema that an absent `schema` means. */
const USUAL_SCHEMA = 'public';

/** Replaces a name of a table or function, `{schema, name}`, by the text in the field and a field `schema` beside it. */
export function flatName(field: string): Conversion {
  return (fields) =>
    replace(fields, field, (value) => {
      if (!isRecord(value)) return { [field]: value };
      const { schema, name, ...others } = value;
      const isUsual = schema === undefined || schema === USUAL_SCHEMA;
      return { ...(name === undefined ? {} : { [field]: name }), ...(isUsual ? {} : { schema }), ...others };
    });
}

/** Replaces the fields `url`, `urlFromEnv` and `urlFrom` by one value source, as the field `url`. */
export function valueSource(to: string, fromEnv = `${to}FromEnv`, from = `${to}From`): Conversion {
  return steps(
    (fields) => replace(fields, to, (value) => ({ [to]: typeof value === 'string' ? { value } : value })),
    (fields) => replace(fields, fromEnv, (env) => ({ [to]: { ...recordAt(fields, to), env } })),
    (fields) =>
      replace(fields, from, (source) => ({
        [to]: isRecord(source) ? { ...recordAt(fields, to), ...source } : source,
      })),
  );
}

/** Replaces `{fromEnv: NAME}` in a field by the value source `{env: NAME}`. */
export function environmentVariable(field: string): Conversion {
  return inside(field, rename('fromEnv', 'env'));
}

/** Moves the fields of the object in a field to its parent. Each is renamed by `names`; others keep their names. */
export function hoist(field: string, names: Readonly<Record<string, string>> = {}): Conversion {
  return (fields) =>
    replace(fields, field, (value) => {
      if (!isRecord(value)) return { [field]: value };
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [names[key] ?? key, inner]));
    });
}

/** Moves fields into a new object at `to`, with the names that `names` gives, at the position of the first one. */
export function gather(to: string, names: Readonly<Record<string, string>>): Conversion {
  return (fields) => {
    const found = Object.keys(fields).filter((key) => key in names);
    const [first, ...others] = found;
    if (first === undefined) return fields;
    const group = Object.fromEntries(found.map((key) => [names[key]!, fields[key]]));
    const rest = without(fields, ...others);
    if (isRecord(fields[to])) return set(without(rest, first), to, { ...fields[to], ...group });
    return replace(rest, first, () => ({ [to]: group }));
  };
}

export function pascalCase(text: string): string {
  return text
    .split(/[-_]/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
}

/** Returns the fields with those of `by(value)` at the position of `field`. Without the field they are returned unchanged. */
export function replace(fields: Fields, field: string, by: (value: unknown) => Fields): Fields {
  if (!(field in fields)) return fields;
  const replacement = by(fields[field]);
  const isTaken = (key: string) => key !== field && key in replacement;
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => {
      if (key === field) return Object.entries(replacement);
      return isTaken(key) ? [] : [[key, value] as const];
    }),
  );
}

export function set(fields: Fields, field: string, value: unknown): Fields {
  return { ...fields, [field]: value };
}

export function without(fields: Fields, ...names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !names.includes(key)));
}

function recordAt(fields: Fields, field: string): Fields {
  const value = fields[field];
  return isRecord(value) ? value : {};
}
