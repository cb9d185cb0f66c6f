/** A breaking change of a schema → the coordinates of which an operation must use one to be affected. GraphQL's own comparison describes its
 *  changes only as text, so this file reads that text; a change that it cannot read affects every operation of the role.
 *  Not here: finding changes (schema-changes.ts), the coordinates that operations use (plan/coordinates.ts). Pure.
 *  Source: graphql-js, `findSchemaChanges`; GraphQL specification, "Schema Coordinates". */

type Change = { readonly type: string; readonly description: string };

/** A kind of change: the form of its description, and the coordinates in it. */
type Row = {
  readonly form: RegExp;
  readonly coordinates: (parts: readonly string[], isInput: (type: string) => boolean) => readonly string[];
};

const coordinate = ([found]: readonly string[]): readonly string[] => [found!];

const ROWS: Readonly<Record<string, Row>> = {
  FIELD_REMOVED: { form: /^Field (\w+\.\w+) was removed\.$/, coordinates: coordinate },
  FIELD_CHANGED_KIND: {
    form: /^Field ((\w+)\.\w+) changed type from .+ to (.+)\.$/,
    // An input field that becomes required concerns everyone who leaves it out.
    coordinates: ([field, type, to], isInput) =>
      isInput(type!) && to!.endsWith('!') ? [field!, type!] : [field!],
  },
  ARG_REMOVED: { form: /^Argument (\w+\.\w+\(\w+:\)) was removed\.$/, coordinates: coordinate },
  ARG_CHANGED_KIND: {
    form: /^Argument ((\w+\.\w+)\(\w+:\)) has changed type from .+ to (.+)\.$/,
    coordinates: ([argument, field, to]) => [to!.endsWith('!') ? field! : argument!],
  },
  REQUIRED_ARG_ADDED: {
    form: /^A required argument (\w+\.\w+)\(\w+:\) was added\.$/,
    coordinates: coordinate,
  },
  REQUIRED_INPUT_FIELD_ADDED: { form: /^A required field (\w+)\.\w+ was added\.$/, coordinates: coordinate },
  VALUE_REMOVED_FROM_ENUM: {
    form: /^Enum value (\w+)\.(\w+) was removed\.$/,
    coordinates: ([type, value]) => [`${type}.${value}`, unknownValueOf(type!)],
  },
  TYPE_REMOVED: { form: /^(?:Standard scalar )?(\w+) was removed\b/, coordinates: coordinate },
  TYPE_CHANGED_KIND: { form: /^(\w+) changed from /, coordinates: coordinate },
  TYPE_REMOVED_FROM_UNION: {
    form: /^\w+ was removed from union type (\w+)\.$/,
    coordinates: coordinate,
  },
  IMPLEMENTED_INTERFACE_REMOVED: {
    form: /^(\w+) no longer implements interface (\w+)\.$/,
    coordinates: (both) => both,
  },
};

/** Returns the coordinates that a breaking change concerns; null when it may concern every operation. `isInput` is true for the name of an
 *  input type. */
export function affectedCoordinates(
  { type, description }: Change,
  isInput: (type: string) => boolean,
): readonly string[] | null {
  const row = Object.hasOwn(ROWS, type) ? ROWS[type] : undefined;
  const [, ...parts] = row?.form.exec(description) ?? [];
  return row && parts.length > 0 ? row.coordinates(parts, isInput) : null;
}

/** Returns the coordinate of a value of an enum that is not known, because only a variable holds it. */
export function unknownValueOf(enumName: string): string {
  return `${enumName}.*`;
}
