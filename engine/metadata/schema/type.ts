/** The builders of TypeBox that our schemas use. They return plain JSON Schema; the types are those of TypeBox.
 *  Loading the 370 modules of the library took a seventh of the CPU of each start, and the builders need none of them.
 *  In and out: plain values, the same JSON as the library returns (type.test.ts compares). Everything that declares a schema imports
 *  from here. Reference: TypeBox 1.x, "Type". */
import type { Type as TypeBox } from 'typebox';
import { KEY_MARK, NAME_MARK } from './marks.ts';

export type { Static, TProperties, TSchema } from 'typebox';

type Builders = Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>;

/** Marks a schema as optional. The mark is read when the schema becomes a property; JSON Schema has no keyword for it. */
const optional = new WeakSet<object>();

const builders = {
  Array: (items: object, options?: object) => ({ type: 'array', items, ...options }),
  Boolean: (options?: object) => ({ type: 'boolean', ...options }),
  Integer: (options?: object) => ({ type: 'integer', ...options }),
  Literal: (value: string | number | boolean) => ({ type: typeof value, const: value }),
  Null: () => ({ type: 'null' }),
  Object: objectOf,
  Optional: (schema: object) => {
    const twin = { ...schema };
    optional.add(twin);
    return twin;
  },
  Record: (
    key: { readonly pattern?: string; readonly [NAME_MARK]?: object },
    value: object,
    options?: object,
  ) => ({
    type: 'object',
    patternProperties: { [key.pattern ?? '^.*$']: value },
    ...options,
    ...(key[NAME_MARK] && { [KEY_MARK]: key[NAME_MARK] }),
  }),
  String: (options?: object) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly object[], options?: object) => ({ anyOf, ...options }),
  Unknown: () => ({}),
  Unsafe: (schema: object) => ({ ...schema }),
};

export const Type = builders as unknown as Builders;

/** A schema of one of several texts. */
export const oneOf = <const T extends readonly string[]>(...texts: T) =>
  Type.Unsafe<T[number]>({ anyOf: texts.map((text) => Type.Literal(text)) });

/** Returns the schema with a description, which the definitions of custom resources and the reference pages show. */
export function described<T extends object>(description: string, schema: T): T {
  return { ...schema, description };
}

function objectOf(properties: Readonly<Record<string, object>>, options?: object): object {
  const required = Object.keys(properties).filter((key) => !optional.has(properties[key]!));
  return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options };
}
