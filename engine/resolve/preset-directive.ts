/** Parses `@preset(value: X, static: Boolean = false)` on an argument or an input field in the permission of a remote schema into a
 *  Preset, checked against the types of the remote schema. A string that names a session variable is replaced by its value unless
 *  the preset is static.
 *  Reference: docs/reference/behaviour/remote-schemas.md; message texts: docs/reference/behaviour/errors.md.
 *  Not here: the part itself (remote-permission.ts), values for a request (remote-preset.ts). */

import {
  type ConstValueNode,
  type InputValueDefinitionNode,
  Kind,
  print,
  type TypeDefinitionNode,
  visit,
} from 'graphql';
import { meantBy, sessionVariableOf } from './session.ts';
import {
  BUILT_IN_SCALARS,
  elementType,
  nullableType,
  type Preset,
  type UpstreamInput,
  type UpstreamSchema,
  type UpstreamType,
} from './upstream.ts';

type Because = (reason: string) => void;

/** True when the directive is where it is not allowed: on a type, a field of an object, or a value of an enum. */
export function hasPresetDirective(node: TypeDefinitionNode): boolean {
  let isFound = false;
  visit(node, {
    InputValueDefinition: () => false,
    Directive: ({ name }) => {
      isFound ||= name.value === 'preset';
    },
  });
  return isFound;
}

/** Returns the preset of a node; undefined when it has none, or an invalid one. */
export function presetOf(
  node: InputValueDefinitionNode,
  type: string,
  { upstream, prefix, because }: Pick<Scope, 'upstream' | 'prefix' | 'because'>,
): Preset | undefined {
  const [directive, ...more] = (node.directives ?? []).filter(({ name }) => name.value === 'preset');
  if (!directive) return undefined;
  const name = node.name.value;
  const given = (argument: string) =>
    directive.arguments?.find((each) => each.name.value === argument)?.value;
  const [value, isStatic] = [given('value'), given('static')];
  const refusal =
    more.length > 0
      ? `found multiple preset directives at "${name}"`
      : isStatic && isStatic.kind !== Kind.BOOLEAN
        ? 'expected preset static value to be a Boolean value'
        : value
          ? null
          : `preset argument "value" not found at "${name}"`;
  if (refusal !== null || !value) {
    because(refusal ?? '');
    return undefined;
  }
  const mayBeSession = !(isStatic?.kind === Kind.BOOLEAN && isStatic.value);
  return presetFrom(value, type, { name, mayBeSession, upstream, prefix, because });
}

type Scope = {
  readonly name: string;
  readonly mayBeSession: boolean;
  readonly upstream: UpstreamSchema;
  readonly prefix: string | undefined;
  readonly because: Because;
};

function presetFrom(value: ConstValueNode, type: string, scope: Scope): Preset | undefined {
  if (value.kind === Kind.NULL) return { kind: 'literal', value };
  const text = scope.mayBeSession && value.kind === Kind.STRING ? value.value : undefined;
  const session = text === undefined ? undefined : sessionVariableOf(text, scope.prefix);
  const meant = text === undefined ? undefined : meantBy(text, scope.prefix);
  if (meant !== undefined) {
    scope.because(
      `"${text}" at "${scope.name}" looks like a session variable, and no session has it: did you mean "${meant}"? ` +
        'If the text itself is meant, add "static: true"',
    );
    return undefined;
  }
  const element = elementType(type);
  if (element !== null) {
    if (session !== undefined) {
      scope.because(
        `illegal preset value at "${scope.name}". Session arguments can only be set for singleton values`,
      );
      return undefined;
    }
    const values = value.kind === Kind.LIST ? value.values : [value];
    return { kind: 'list', items: values.flatMap((item) => presetFrom(item, element, scope) ?? []) };
  }
  const name = nullableType(type);
  const named = scope.upstream.types.get(name);
  if (named?.kind === 'input') return presetObject(value, named, scope);
  if (session !== undefined) return { kind: 'session', variable: session, type: name };
  const refusal = refusalOf(value, name, named);
  if (refusal === null) return { kind: 'literal', value };
  scope.because(refusal);
  return undefined;
}

function refusalOf(value: ConstValueNode, name: string, type: UpstreamType | undefined): string | null {
  const expected = (what: string) =>
    `expected preset value "${print(value)}" of type "${name}" to be ${what} value`;
  if (type?.kind === 'enum') {
    if (value.kind !== Kind.ENUM) return expected('an enum');
    const isKnown = type.values.some((each) => each.name === value.value);
    return isKnown ? null : `"${value.value}" not found in the enum: "${name}"`;
  }
  const isStructured = value.kind === Kind.OBJECT || value.kind === Kind.LIST;
  return isStructured && BUILT_IN_SCALARS.has(name) ? expected('a scalar') : null;
}

function presetObject(
  value: ConstValueNode,
  { name, fields }: Extract<UpstreamType, { kind: 'input' }>,
  scope: Scope,
): Preset | undefined {
  if (value.kind !== Kind.OBJECT) {
    scope.because(`expected preset value "${print(value)}" of type "${name}" to be an input object value`);
    return undefined;
  }
  const members = value.fields.flatMap((field): (readonly [string, Preset])[] => {
    const known = fields.find((each) => each.name === field.name.value);
    if (!known) {
      scope.because(`"${field.name.value}" does not exist in the input object "${name}"`);
      return [];
    }
    const preset = presetFrom(field.value, known.type, scope);
    return preset ? [[known.name, preset]] : [];
  });
  return { kind: 'object', fields: members };
}

/** Makes an input object a preset everywhere when all its fields have presets, so that nothing is left for the client to give. */
export function withPresetObjects(
  types: ReadonlyMap<string, UpstreamType>,
): ReadonlyMap<string, UpstreamType> {
  const whole = (type: string, open: readonly string[]): Preset | undefined => {
    const named = types.get(nullableType(type));
    if (named?.kind !== 'input' || open.includes(named.name)) return undefined;
    const fields = named.fields.map((field) => {
      return [field.name, field.preset ?? whole(field.type, [...open, named.name])] as const;
    });
    const given = fields.filter((field): field is readonly [string, Preset] => field[1] !== undefined);
    return given.length === fields.length ? { kind: 'object', fields: given } : undefined;
  };
  const filled = (input: UpstreamInput): UpstreamInput => {
    const preset = input.preset ?? whole(input.type, []);
    return preset ? { ...input, preset } : input;
  };
  return new Map(
    [...types].map(([name, type]): [string, UpstreamType] => {
      if (type.kind === 'input') return [name, { ...type, fields: type.fields.map(filled) }];
      if (!('fields' in type)) return [name, type];
      const fields = type.fields.map((field) => ({ ...field, arguments: field.arguments.map(filled) }));
      return [name, { ...type, fields }];
    }),
  );
}
