/** Permissions of remote schemas: the SDL of the part that a role sees, checked against the types of the remote schema. Everything
 *  in it must exist there with the same type; arguments may be left out or have `@preset(value: X, static: Boolean = false)`. A preset
 *  that names a session variable is replaced by its value unless it is static. The error lists every reason.
 *  In: SDL × UpstreamSchema. Out: the part, as an UpstreamSchema with presets. Raises `remoteSchemaPermissionInvalid`.
 *  Reference: docs/reference/behaviour/remote-schemas.md; message texts: docs/reference/behaviour/errors.md. Not here: values of presets for a request (remote-preset.ts). */
import {
  type ConstValueNode,
  type EnumTypeDefinitionNode,
  type FieldDefinitionNode,
  GraphQLError,
  type InputValueDefinitionNode,
  type InterfaceTypeDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  type SchemaDefinitionNode,
  type TypeDefinitionNode,
  visit,
} from 'graphql';
import { fail } from '../errors/engine-error.ts';
import { meantBy, sessionVariableOf } from './session.ts';
import {
  BUILT_IN_SCALARS,
  elementType,
  isRequired,
  namedType,
  nullableType,
  type Preset,
  UPSTREAM_OPERATIONS,
  type UpstreamComposite,
  type UpstreamField,
  type UpstreamInput,
  type UpstreamSchema,
  type UpstreamType,
} from './upstream.ts';

/** Returns the part of a remote schema that the SDL describes. `prefix` is the prefix of session variables in documents. */
export function readPermission(sdl: string, upstream: UpstreamSchema, prefix?: string): UpstreamSchema {
  const part = new Part(upstream, prefix);
  const schema = part.read(definitionsOf(sdl));
  if (part.reasons.length > 0) refuse(part.reasons);
  return schema;
}

/** Returns the definitions of types and schemas. Raises `remoteSchemaPermissionInvalid` for text that is no SDL. */
function definitionsOf(sdl: string): readonly (TypeDefinitionNode | SchemaDefinitionNode)[] {
  try {
    const { definitions } = parse(sdl, { noLocation: true, maxTokens: 1_000_000 });
    return definitions.filter((node) => node.kind === Kind.SCHEMA_DEFINITION || node.kind in KINDS) as never;
  } catch (error) {
    if (!(error instanceof GraphQLError || error instanceof RangeError)) throw error;
    return refuse([error.message]);
  }
}

function refuse(reasons: readonly string[]): never {
  const why =
    reasons.length === 1
      ? `because ${reasons[0]}`
      : `for the following reasons:\n${reasons.map((reason) => ` • ${reason}\n`).join('')}`;
  return fail('remoteSchemaPermissionInvalid', { why });
}

/** The kind of each definition, and its name in messages. */
const KINDS: Readonly<
  Record<TypeDefinitionNode['kind'], readonly [kind: UpstreamType['kind'], word: string]>
> = {
  ScalarTypeDefinition: ['scalar', 'Scalar'],
  ObjectTypeDefinition: ['object', 'Object'],
  InterfaceTypeDefinition: ['interface', 'Interface'],
  UnionTypeDefinition: ['union', 'Union'],
  EnumTypeDefinition: ['enum', 'Enum'],
  InputObjectTypeDefinition: ['input', 'Input object'],
};

/** Checks one permission and collects the reasons against it in the order of the document. */
class Part {
  readonly reasons: string[] = [];
  readonly #upstream: UpstreamSchema;
  readonly #prefix: string | undefined;

  constructor(upstream: UpstreamSchema, prefix: string | undefined) {
    this.#upstream = upstream;
    this.#prefix = prefix;
  }

  read(nodes: readonly (TypeDefinitionNode | SchemaDefinitionNode)[]): UpstreamSchema {
    const [definition, ...more] = nodes.filter((node) => node.kind === Kind.SCHEMA_DEFINITION);
    if (more.length > 0) this.#because('multiple schema definitions found');
    const declared = nodes.filter((node) => node.kind !== Kind.SCHEMA_DEFINITION);
    const twice = repeated(declared.map(({ name }) => name.value));
    if (twice.length > 0) this.#because(`duplicate type names found: ${listed(twice)}`);
    const types = new Map<string, UpstreamType>();
    for (const node of declared) {
      const type = this.#type(node, declared);
      if (type) types.set(type.name, type);
    }
    for (const type of types.values()) this.#checkReferences(type, types);
    return { types: withPresetObjects(types), roots: this.#roots(definition, types) };
  }

  #because(reason: string): void {
    this.reasons.push(reason);
  }

  #type(node: TypeDefinitionNode, declared: readonly TypeDefinitionNode[]): UpstreamType | undefined {
    const name = node.name.value;
    const [kind, word] = KINDS[node.kind];
    const upstream = this.#upstream.types.get(name);
    if (node.kind !== Kind.INPUT_OBJECT_TYPE_DEFINITION && hasPresetDirective(node)) this.#because(MISPLACED);
    if (upstream?.kind !== kind && !(kind === 'scalar' && BUILT_IN_SCALARS.has(name))) {
      this.#because(`"${word}": "${name}" does not exist in the upstream remote schema`);
    }
    const about = { name, description: node.description?.value ?? null };
    switch (node.kind) {
      case Kind.SCALAR_TYPE_DEFINITION:
        return { ...about, kind: 'scalar' };
      case Kind.ENUM_TYPE_DEFINITION:
        return upstream?.kind === 'enum'
          ? { ...about, kind: 'enum', values: this.#values(node, upstream) }
          : undefined;
      case Kind.UNION_TYPE_DEFINITION: {
        const members = (node.types ?? []).map((member) => member.name.value);
        if (upstream?.kind !== 'union') return undefined;
        this.#checkMembers(name, members, upstream.members);
        return { ...about, kind: 'union', members };
      }
      case Kind.INPUT_OBJECT_TYPE_DEFINITION:
        if (upstream?.kind !== 'input') return undefined;
        return { ...about, kind: 'input', fields: this.#inputs(node.fields ?? [], upstream.fields, name) };
      default: {
        const interfaces = this.#interfaces(node, upstream, declared);
        if (upstream?.kind !== 'object' && upstream?.kind !== 'interface') return undefined;
        return { ...about, kind: upstream.kind, interfaces, fields: this.#fields(node, upstream, word) };
      }
    }
  }

  #values(node: EnumTypeDefinitionNode, upstream: Extract<UpstreamType, { kind: 'enum' }>) {
    const names = (node.values ?? []).map((value) => value.name.value);
    const twice = repeated(names);
    if (twice.length > 0) {
      this.#because(`duplicate enum values: ${listed(twice)} found in the "${upstream.name}" enum`);
    }
    const unknown = names.filter((name) => !upstream.values.some((value) => value.name === name));
    if (unknown.length > 0) {
      this.#because(
        `enum "${upstream.name}" contains the following enum values that do not exist ` +
          `in the corresponding upstream remote enum: ${listed(unknown)}`,
      );
    }
    return upstream.values.filter((value) => names.includes(value.name));
  }

  #checkMembers(name: string, members: readonly string[], known: readonly string[]): void {
    const unknown = members.filter((member) => !known.includes(member));
    if (unknown.length === 0) return;
    this.#because(
      `union "${name}" contains members which do not exist in the members of the remote schema union :${listed(unknown)}`,
    );
  }

  #interfaces(
    node: ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode,
    upstream: UpstreamType | undefined,
    declared: readonly TypeDefinitionNode[],
  ): readonly string[] {
    const names = (node.interfaces ?? []).map((each) => each.name.value);
    const known = upstream && 'interfaces' in upstream ? upstream.interfaces : [];
    const custom = names.filter((name) => this.#upstream.types.get(name)?.kind !== 'interface');
    if (custom.length > 0 && declared.some(({ name }) => custom.includes(name.value))) {
      this.#because(
        'custom interfaces are not supported. ' +
          `Object"${node.name.value}" implements the following custom interfaces: ${listed(custom)}`,
      );
    }
    const foreign = names.filter((name) => !custom.includes(name) && !known.includes(name));
    if (foreign.length > 0) {
      this.#because(
        `object "${node.name.value}" is trying to implement the following interfaces that do not exist ` +
          `in the corresponding upstream remote object: ${listed(foreign)}`,
      );
    }
    return names;
  }

  #fields(
    node: ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode,
    upstream: UpstreamComposite,
    word: string,
  ): readonly UpstreamField[] {
    const given = node.fields ?? [];
    const twice = repeated(given.map(({ name }) => name.value));
    if (twice.length > 0)
      this.#because(`duplicate fields: ${listed(twice)}found in the ${word} "${upstream.name}"`);
    return given.flatMap((field) => {
      const known = upstream.fields.find(({ name }) => name === field.name.value);
      if (known) return [this.#field(field, known, word)];
      this.#because(`field "${field.name.value}" does not exist in the "${word}": "${upstream.name}"`);
      return [];
    });
  }

  #field(node: FieldDefinitionNode, known: UpstreamField, word: string): UpstreamField {
    const type = print(node.type);
    if (type !== known.type) this.#becauseOfType(node.name.value, `${word} field`, known.type, type);
    const twice = repeated((node.arguments ?? []).map(({ name }) => name.value));
    if (twice.length > 0)
      this.#because(`duplicate arguments: ${listed(twice)}found in the field: "${known.name}"`);
    return {
      ...known,
      description: node.description?.value ?? known.description,
      arguments: this.#inputs(node.arguments ?? [], known.arguments, known.name),
    };
  }

  /** Checks the arguments of a field, or the fields of an input object. */
  #inputs(
    nodes: readonly InputValueDefinitionNode[],
    known: readonly UpstreamInput[],
    owner: string,
  ): readonly UpstreamInput[] {
    const inputs = nodes.flatMap((node) => {
      const name = node.name.value;
      const upstream = known.find((each) => each.name === name);
      if (upstream) return [this.#input(node, upstream, owner)];
      this.#because(`input argument "${name}" does not exist in the input object:"${owner}"`);
      return [];
    });
    const missing = known.filter(
      (each) => isRequired(each) && !inputs.some(({ name }) => name === each.name),
    );
    if (missing.length > 0) {
      this.#because(
        `field: "${owner}" expects the following non nullable arguments to be present: ` +
          listed(missing.map(({ name }) => name)),
      );
    }
    return inputs;
  }

  #input(node: InputValueDefinitionNode, known: UpstreamInput, owner: string): UpstreamInput {
    const type = print(node.type);
    if (type !== known.type) this.#becauseOfType(known.name, 'Input object argument', known.type, type);
    const standard = node.defaultValue ? print(node.defaultValue) : known.default;
    if (standard !== known.default) {
      this.#because(
        `expected default value of input value: "${known.name}"of input object "${owner}" ` +
          `to be ${known.default ?? ''} but received ${standard}`,
      );
    }
    const preset = presetOf(node, known.type, {
      upstream: this.#upstream,
      prefix: this.#prefix,
      because: (reason) => this.#because(reason),
    });
    return {
      ...known,
      description: node.description?.value ?? known.description,
      ...(preset ? { preset } : {}),
    };
  }

  #becauseOfType(name: string, place: string, expected: string, received: string): void {
    this.#because(`expected type of "${name}"("${place}") to be ${expected} but received ${received}`);
  }

  #checkReferences(type: UpstreamType, types: ReadonlyMap<string, UpstreamType>): void {
    if (!('fields' in type)) return;
    const used = type.fields.flatMap((field) => [
      field.type,
      ...('arguments' in field
        ? field.arguments.filter(({ preset }) => !preset).map((each) => each.type)
        : []),
    ]);
    for (const name of new Set(used.map(namedType))) {
      if (types.has(name) || BUILT_IN_SCALARS.has(name)) continue;
      this.#because(`Could not find type with name "${name}", which "${type.name}" refers to`);
    }
  }

  #roots(definition: SchemaDefinitionNode | undefined, types: ReadonlyMap<string, UpstreamType>) {
    const roots: Record<string, string | null> = {};
    for (const operation of UPSTREAM_OPERATIONS) {
      const known = this.#upstream.roots[operation];
      const given = definition?.operationTypes.find((each) => each.operation === operation)?.type.name.value;
      if (given !== undefined && given !== known) {
        this.#because(`the ${operation} root of the remote schema is not "${given}"`);
      }
      const isSeen = known !== null && types.has(known) && (!definition || given === known);
      roots[operation] = isSeen ? known : null;
    }
    if (roots['query'] === null) this.#because('query root does not exist in the schema definition');
    return roots as UpstreamSchema['roots'];
  }
}

const MISPLACED = 'Preset directives can be defined only on INPUT_FIELD_DEFINITION or ARGUMENT_DEFINITION';

function repeated(names: readonly string[]): readonly string[] {
  const seen = new Set<string>();
  return [...new Set(names.filter((name) => seen.size === seen.add(name).size))];
}

/** Returns the names as `"a", "b" and "c"`. */
function listed(names: readonly string[]): string {
  const quoted = names.map((name) => `"${name}"`);
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)}`;
}

type Because = (reason: string) => void;

/** True when the directive is where it is not allowed: on a type, a field of an object, or a value of an enum. */
function hasPresetDirective(node: TypeDefinitionNode): boolean {
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
function presetOf(
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
function withPresetObjects(types: ReadonlyMap<string, UpstreamType>): ReadonlyMap<string, UpstreamType> {
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
