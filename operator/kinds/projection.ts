/** Translates values between a spec and the metadata, by the mappings of its schema: a field is where its schema says, in the form that it
 *  says.
 *  In: the schema of a spec or of a part of it, a value or a path. Out: the value of the metadata and back, the path in the spec. Pure.
 *  Not here: the mappings (mapping.ts), the objects of a resource (parts.ts). */
import { isRecord, type PathStep, printPath, type TSchema } from '@pergola/engine/metadata';
import {
  type DescribeContext,
  type FieldContext,
  type FieldValues,
  formOf,
  pathInObject,
} from './mapping.ts';

/** The context of values that cannot refer to Secrets. */
export const NO_SECRETS: FieldContext = {
  context: {
    valueFrom: () => {
      throw new Error('this value does not refer to a Secret');
    },
  },
  path: 'spec',
};

type Shape = TSchema & {
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
};

/** Returns the value of the metadata for a value of a spec that fits the schema. */
export function written(schema: Shape, value: unknown, writing: FieldContext): unknown {
  const form = formOf(schema);
  if (!form) return writtenMembers(schema, value, writing);
  return form.write(form.isWhole ? value : writtenMembers(schema, value, writing), writing);
}

/** Returns the value of a field; the default of its form when it is absent. */
export function writtenField(field: Shape, name: string, owner: FieldValues, writing: FieldContext): unknown {
  const value = owner[name];
  if (value === undefined) return formOf(field)?.absent?.(owner);
  return written(field, value, { ...writing, path: `${writing.path}.${name}` });
}

function writtenMembers({ properties, items }: Shape, value: unknown, writing: FieldContext): unknown {
  if (Array.isArray(value)) {
    if (!items || !isMapped(items)) return value;
    return value.map((item, i) => written(items, item, { ...writing, path: `${writing.path}[${i}]` }));
  }
  return properties && isRecord(value) ? writtenObject(properties, value, writing) : value;
}

/** Returns the object of the metadata with these fields. */
export function writtenObject(
  properties: Readonly<Record<string, Shape>>,
  value: FieldValues,
  writing: FieldContext,
): FieldValues {
  const object: Record<string, unknown> = {};
  for (const name of Object.keys(properties)) {
    const field = properties[name]!;
    const own = writtenField(field, name, value, writing);
    // The path is computed last: most fields are absent.
    const to = own === undefined ? null : pathInObject(name, field);
    if (to) put(object, to, own);
  }
  return object;
}

/** Sets the value at the path. Objects at the same path become one; those of a spec are not changed. */
function put(object: Record<string, unknown>, [step, ...rest]: readonly string[], value: unknown): void {
  if (step === undefined) {
    Object.assign(object, value);
    return;
  }
  const before = object[step];
  if (rest.length === 0 && !(isRecord(value) && isRecord(before))) {
    object[step] = value;
    return;
  }
  const inner = isRecord(before) ? { ...before } : {};
  object[step] = inner;
  put(inner, rest, value);
}

/** Returns the value of a spec for a value of the metadata, the inverse of `written`; undefined when there is none. */
export function described(schema: Shape, value: unknown, reading: DescribeContext): unknown {
  const form = formOf(schema);
  if (value === undefined || value === null) return form?.missing;
  if (!form) return describedMembers(schema, value, reading);
  const own = form.read(value, reading);
  return form.isWhole ? own : describedMembers(schema, own, reading);
}

function describedMembers({ properties, items }: Shape, value: unknown, reading: DescribeContext): unknown {
  const { path } = reading;
  if (Array.isArray(value)) {
    if (!items || !isMapped(items)) return value;
    return value.map((item, i) => described(items, item, { ...reading, path: [...path, i] }) ?? {});
  }
  if (!properties || !isRecord(value)) return value;
  return describedObject(properties, value, reading);
}

/** Returns the fields that an object of the metadata has. */
export function describedObject(
  properties: Readonly<Record<string, Shape>>,
  object: unknown,
  reading: DescribeContext,
): FieldValues {
  const spec: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(properties)) {
    const to = pathInObject(name, field);
    const value = to?.reduce<unknown>((owner, step) => (isRecord(owner) ? owner[step] : undefined), object);
    const own = described(field, value, { ...reading, path: [...reading.path, name] });
    if (own !== undefined && !(isEmpty(own) && !isEmpty(value) && isShared(properties, to!)))
      spec[name] = own;
  }
  return spec;
}

function isEmpty(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 0;
}

/** True when other fields are in the object at the path, too. */
function isShared(properties: Readonly<Record<string, Shape>>, path: readonly string[]): boolean {
  const isInside = (to: readonly string[] | null) => path.every((step, i) => step === to?.[i]);
  const inside = Object.entries(properties).filter(([name, field]) => isInside(pathInObject(name, field)));
  return inside.length > 1;
}

/** Returns the fields of an item of a spec for its object, without references to Secrets. */
export function describedItem(item: Shape, definition: unknown): FieldValues {
  return describedObject(item.properties ?? {}, definition, { path: [], keep: (value) => ({ value }) });
}

/** Returns the path below a value of a spec for a path below its metadata: `.filter.title`; undefined when no field has it. */
export function pathInSpec(schema: Shape, value: unknown, given: readonly PathStep[]): string | undefined {
  const form = formOf(schema);
  if (given.length === 0 || (form?.isWhole && !form.path)) return '';
  const path = form?.path?.(given, value) ?? given;
  if (path.length === 0) return '';
  const { properties, items } = schema;
  if (properties) return pathInFields(properties, value, path);
  if (!items || !isMapped(items)) return printPath(path).slice(1);
  const [step, ...rest] = path;
  if (typeof step !== 'number') return undefined;
  const item = Array.isArray(value) ? value[step] : undefined;
  return `[${step}]${pathInSpec(items, item, rest) ?? ''}`;
}

/** Returns the path of the field that has the longest part of a path; a field of the value, where several have it. */
export function pathInFields(
  properties: Readonly<Record<string, Shape>>,
  value: unknown,
  path: readonly PathStep[],
): string | undefined {
  const owner = isRecord(value) ? value : {};
  const found = Object.entries(properties).flatMap(([name, field]) => {
    const to = pathInObject(name, field);
    if (!to?.every((step, i) => step === path[i])) return [];
    const rest = path.slice(to.length);
    const members = formOf(field)?.members;
    if (members && !members.includes(String(rest[0]))) return [];
    const inner = pathInSpec(field, owner[name], rest);
    if (inner === undefined && to.length === 0) return [];
    const rank = 2 * to.length + (inner === undefined ? 0 : 1);
    return [{ at: `.${name}${inner ?? ''}`, rank: 2 * rank + (name in owner ? 1 : 0) }];
  });
  return found.toSorted((a, b) => b.rank - a.rank)[0]?.at;
}

/** True when the metadata may have another form of the value. */
function isMapped(schema: Shape): boolean {
  return schema.properties !== undefined || schema.items !== undefined || formOf(schema) !== undefined;
}
