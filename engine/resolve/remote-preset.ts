/** The values of presets: arguments of a remote schema that the engine gives because of a permission's `@preset`. In: presets and a
 *  session. Out: JSON values for the variables of the request.
 *  Not here: parsing `@preset` (remote-permission.ts), the sent document (plan/remote-schema.ts). Reference: docs/reference/behaviour/remote-schemas.md. */

import { type ConstValueNode, parseConstValue } from 'graphql';
import { fail } from '../errors/engine-error.ts';
import { isRecord } from '../json/value.ts';
import { own } from '../metadata/own.ts';
import type { Session } from './session.ts';
import {
  elementType,
  namedType,
  nullableType,
  type Preset,
  type UpstreamInput,
  type UpstreamSchema,
} from './upstream.ts';

/** True when an input of the type has a preset at any depth. */
export function hasPresets(schema: UpstreamSchema, type: string, seen = new Set<string>()): boolean {
  const named = schema.types.get(namedType(type));
  if (named?.kind !== 'input' || seen.has(named.name)) return false;
  seen.add(named.name);
  return named.fields.some((field) => field.preset || hasPresets(schema, field.type, seen));
}

/** The input objects on the way to a value. An object inside another one of its type is not added: there is no end to them. */
export type OpenInputs = readonly string[];

/** True when an input object is sent although the client leaves it out or gives null: it has presets, which hold in any case. A list that
 *  is left out has no objects. */
export function isSentAnyway(schema: UpstreamSchema, type: string, open: OpenInputs = []): boolean {
  const named = elementType(type) === null ? schema.types.get(namedType(type)) : undefined;
  if (named?.kind !== 'input' || open.includes(named.name)) return false;
  const inside = [...open, named.name];
  return named.fields.some((field) => field.preset || isSentAnyway(schema, field.type, inside));
}

type Presets = { readonly schema: UpstreamSchema; readonly session: Session };

/** Returns a client's value of the type with the presets inside it. Undefined is a value that the client leaves out. */
export function withPresets(value: unknown, type: string, from: Presets, open: OpenInputs = []): unknown {
  const { schema, session } = from;
  if (!hasPresets(schema, type)) return value;
  if (Array.isArray(value)) {
    const element = elementType(type) ?? type;
    // Null in a list stands for no object.
    return value.map((item) => (item === null ? null : withPresets(item, element, from, open)));
  }
  const named = schema.types.get(namedType(type));
  const isLeftOut = value === undefined || value === null;
  if (isLeftOut && !isSentAnyway(schema, type, open)) return value;
  const given = isLeftOut ? {} : value;
  if (named?.kind !== 'input' || !isRecord(given)) return value;
  const inside = [...open, named.name];
  return Object.fromEntries(
    named.fields.flatMap((field): [string, unknown][] => {
      if (field.preset) return [[field.name, presetValue(field.preset, schema, session)]];
      const own = Object.hasOwn(given, field.name) ? given[field.name] : defaultOf(field);
      const filled = withPresets(own, field.type, from, inside);
      const isSent = Object.hasOwn(given, field.name) || filled !== own;
      return isSent ? [[field.name, filled]] : [];
    }),
  );
}

/** Returns the default value of an input; undefined without one. The service adds it by itself, unless presets go into it. */
export function defaultOf({ default: standard }: Pick<UpstreamInput, 'default'>): unknown {
  return standard === null ? undefined : plainValue(parseConstValue(standard));
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
