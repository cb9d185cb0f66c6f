/** The values of presets: arguments of a remote schema that the engine gives because of a permission's `@preset`. In: presets and a
 *  session. Out: JSON values for the variables of the request.
 *  Not here: parsing `@preset` (remote-permission.ts), the sent document (plan/remote-schema.ts). Reference: docs/reference/behaviour/remote-schemas.md. */

import type { ConstValueNode } from 'graphql';
import { fail } from '../errors/engine-error.ts';
import { isRecord } from '../json/value.ts';
import { own } from '../metadata/own.ts';
import type { Session } from './session.ts';
import { elementType, namedType, nullableType, type Preset, type UpstreamSchema } from './upstream.ts';

/** True when an input of the type has a preset at any depth. */
export function hasPresets(schema: UpstreamSchema, type: string, seen = new Set<string>()): boolean {
  const named = schema.types.get(namedType(type));
  if (named?.kind !== 'input' || seen.has(named.name)) return false;
  seen.add(named.name);
  return named.fields.some((field) => field.preset || hasPresets(schema, field.type, seen));
}

/** Returns a client's value of the type with the presets inside it. */
export function withPresets(value: unknown, type: string, schema: UpstreamSchema, session: Session): unknown {
  if (!hasPresets(schema, type)) return value;
  const element = elementType(type);
  if (Array.isArray(value)) return value.map((item) => withPresets(item, element ?? type, schema, session));
  const named = schema.types.get(namedType(type));
  if (named?.kind !== 'input' || !isRecord(value)) return value;
  return Object.fromEntries(
    named.fields.flatMap((field): [string, unknown][] => {
      if (field.preset) return [[field.name, presetValue(field.preset, schema, session)]];
      if (!Object.hasOwn(value, field.name)) return [];
      return [[field.name, withPresets(value[field.name], field.type, schema, session)]];
    }),
  );
}

/** Returns the value of a preset as JSON. Raises `sessionVariableExpected` or `notCoercible`. */
export function presetValue(preset: Preset, schema: UpstreamSchema, session: Session): unknown {
  switch (preset.kind) {
    case 'literal':
      return plainValue(preset.value);
    case 'session':
      return sessionValue(preset, schema, session);
    case 'list':
      return preset.items.map((item) => presetValue(item, schema, session));
    case 'object':
      return Object.fromEntries(
        preset.fields.map(([name, inner]) => [name, presetValue(inner, schema, session)]),
      );
    default:
      return preset satisfies never;
  }
}

function plainValue(node: ConstValueNode): unknown {
  switch (node.kind) {
    case 'NullValue':
      return null;
    case 'IntValue':
    case 'FloatValue':
      return Number(node.value);
    case 'ListValue':
      return node.values.map(plainValue);
    case 'ObjectValue':
      return Object.fromEntries(node.fields.map(({ name, value }) => [name.value, plainValue(value)]));
    default:
      return node.value;
  }
}

type Reading = { readonly takes: RegExp; readonly read: (text: string) => unknown };

/** How the text of a session variable is read as each scalar. A scalar that is not listed takes the text. */
const READINGS: Readonly<Record<string, Reading>> = {
  Int: { takes: /^[+-]?\d{1,10}$/, read: Number },
  Float: { takes: /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/, read: Number },
  Boolean: { takes: /^(true|false)$/i, read: (text) => text.toLowerCase() === 'true' },
};

function sessionValue(
  { variable, type }: Extract<Preset, { kind: 'session' }>,
  { types }: UpstreamSchema,
  { variables }: Session,
): unknown {
  const text = own(variables, variable) ?? fail('sessionVariableExpected', { name: variable });
  const name = nullableType(type);
  const reading = own(READINGS, name);
  const named = types.get(name);
  const fits =
    named?.kind === 'enum'
      ? named.values.some((value) => value.name === text)
      : (reading?.takes.test(text) ?? true);
  if (!fits) fail('notCoercible', { value: text, type: name });
  const value = reading ? reading.read(text) : text;
  if (name === 'Int' && Math.abs(value as number) > 2 ** 31 - 1)
    fail('notCoercible', { value: text, type: name });
  return value;
}
