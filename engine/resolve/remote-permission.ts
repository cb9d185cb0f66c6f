/** Permissions of remote schemas: the SDL of the part that a role sees, checked against the types of the remote schema. Everything
 *  in it must exist there with the same type; arguments may be left out or have `@preset(value: X, static: Boolean = false)`. A preset
 *  that names a session variable is replaced by its value unless it is static. The error lists every reason.
 *  In: SDL × UpstreamSchema. Out: the part, as an UpstreamSchema with presets. Raises `remoteSchemaPermissionInvalid`.
 *  Reference: docs/reference/behaviour/remote-schemas.md; message texts: docs/reference/behaviour/errors.md. Not here: values of presets for a request (remote-preset.ts). */
import {
  type ConstDirectiveNode,
  type ConstValueNode,
  type EnumTypeDefinitionNode,
  type EnumValueDefinitionNode,
  type FieldDefinitionNode,
  GraphQLError,
  type InputObjectTypeDefinitionNode,
  type InputValueDefinitionNode,
  type InterfaceTypeDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  parseConstValue,
  print,
  type SchemaDefinitionNode,
  type TypeDefinitionNode,
  type UnionTypeDefinitionNode,
} from 'graphql';
import { fail } from '../errors/engine-error.ts';
import { repeated } from './remote-names.ts';
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

/** Thrown when nothing more can be said about a definition; the reason is among `reasons`. */
class Refused extends Error {}

/** Checks one permission and collects the reasons against it in the order of the document. Definitions beside each other are all checked;
 *  within one, a reason that leaves the rest without meaning ends the check. */
class Part {
  readonly reasons: string[] = [];
  readonly #upstream: UpstreamSchema;
  readonly #prefix: string | undefined;
  readonly #declared = new Map<string, TypeDefinitionNode>();

  constructor(upstream: UpstreamSchema, prefix: string | undefined) {
    this.#upstream = upstream;
    this.#prefix = prefix;
  }

  /** Returns the part; it is incomplete when there are reasons. */
  read(nodes: readonly (TypeDefinitionNode | SchemaDefinitionNode)[]): UpstreamSchema {
    const declared = nodes.filter((node) => node.kind !== Kind.SCHEMA_DEFINITION);
    for (const node of declared) this.#declared.set(node.name.value, node);
    const types = new Map(this.#types(nodes, declared).map((type) => [type.name, type]));
    for (const type of types.values()) this.#checkReferences(type);
    // A root that was refused is missing, which is no reason of its own.
    if (this.reasons.length > 0) return { types, roots: this.#upstream.roots };
    const definition = nodes.find((node) => node.kind === Kind.SCHEMA_DEFINITION);
    return { types: withPresetObjects(types), roots: this.#roots(definition, types) };
  }

  #types(
    nodes: readonly (TypeDefinitionNode | SchemaDefinitionNode)[],
    declared: readonly TypeDefinitionNode[],
  ): readonly UpstreamType[] {
    const twice = repeated(declared.map(({ name }) => name.value));
    if (twice.length > 0) this.#because(`duplicate type names found: ${listed(twice)}`);
    else if (nodes.length - declared.length > 1) this.#because('multiple schema definitions found');
    else return this.#each(declared, (node) => this.#type(node));
    return [];
  }

  /** Returns the results for all nodes that are not refused. */
  #each<N, R>(nodes: readonly N[], check: (node: N) => R): readonly R[] {
    return nodes.flatMap((node) => {
      try {
        return [check(node)];
      } catch (error) {
        if (error instanceof Refused) return [];
        throw error;
      }
    });
  }

  #because(reason: string): void {
    this.reasons.push(reason);
  }

  #refuse(reason: string): never {
    this.#because(reason);
    throw new Refused(reason);
  }

  #type(node: TypeDefinitionNode): UpstreamType {
    const name = node.name.value;
    const [kind, word] = KINDS[node.kind];
    const upstream = this.#upstream.types.get(name);
    const about = { name, description: node.description?.value ?? null };
    if (kind === 'scalar' && BUILT_IN_SCALARS.has(name)) return { ...about, kind };
    if (upstream?.kind !== kind) {
      return this.#refuse(`"${word}": "${name}" does not exist in the upstream remote schema`);
    }
    this.#checkDirectives(node, word, name);
    switch (upstream.kind) {
      case 'scalar':
        return { ...about, kind: 'scalar' };
      case 'enum':
        return { ...about, kind: 'enum', values: this.#values(node as EnumTypeDefinitionNode, upstream) };
      case 'union': {
        const members = ((node as UnionTypeDefinitionNode).types ?? []).map((member) => member.name.value);
        this.#checkMembers(name, members, upstream.members);
        return { ...about, kind: 'union', members };
      }
      case 'input': {
        const inputs = (node as InputObjectTypeDefinitionNode).fields ?? [];
        return { ...about, kind: 'input', fields: this.#inputs(inputs, upstream.fields, name) };
      }
      default: {
        const composite = node as ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode;
        const interfaces = this.#interfaces(composite, upstream);
        return { ...about, kind: upstream.kind, interfaces, fields: this.#fields(composite, upstream, word) };
      }
    }
  }

  /** Returns the preset directive of an argument or an input field; elsewhere it is a reason. The introspection of a remote schema does not
   *  say which directives it uses, so any other directive than those of GraphQL itself is unknown. */
  #checkDirectives(
    { kind, directives = [] }: TypeDefinitionNode | FieldDefinitionNode | InputValueDefinitionNode,
    word: string,
    owner: string,
  ): ConstDirectiveNode | undefined {
    const others = directives.map(({ name }) => name.value).filter((name) => name !== 'preset');
    const twice = repeated(others);
    if (twice.length > 0)
      this.#refuse(`duplicate directives: ${listed(twice)}found in the "${word}" "${owner}"`);
    const unknown = others.filter((name) => !DESCRIBING.includes(name));
    for (const name of unknown)
      this.#because(`"Directive": "${name}" does not exist in the upstream remote schema`);
    if (unknown.length > 0) throw new Refused();
    const [preset, ...more] = directives.filter(({ name }) => name.value === 'preset');
    if (more.length > 0) this.#refuse(`found multiple preset directives at "${word}" "${owner}"`);
    if (preset && kind !== Kind.INPUT_VALUE_DEFINITION) this.#because(MISPLACED);
    return preset;
  }

  #values(node: EnumTypeDefinitionNode, upstream: Extract<UpstreamType, { kind: 'enum' }>) {
    const values = node.values ?? [];
    const names = values.map((value) => value.name.value);
    const isPreset = ({ directives = [] }: EnumValueDefinitionNode) =>
      directives.some(({ name }) => name.value === 'preset');
    if (values.some(isPreset)) this.#because(MISPLACED);
    const twice = repeated(names);
    if (twice.length > 0) {
      this.#refuse(`duplicate enum values: ${listed(twice)} found in the "${upstream.name}" enum`);
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
    this.#refuse(
      `union "${name}" contains members which do not exist in the members of the remote schema union :${listed(unknown)}`,
    );
  }

  #interfaces(
    node: ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode,
    upstream: UpstreamComposite,
  ): readonly string[] {
    const names = (node.interfaces ?? []).map((each) => each.name.value);
    const more = names.filter((name) => !upstream.interfaces.includes(name));
    const isDeclared = (name: string) => this.#declared.get(name)?.kind === Kind.INTERFACE_TYPE_DEFINITION;
    const custom = more.filter(isDeclared);
    if (custom.length > 0) {
      this.#because(
        'custom interfaces are not supported. ' +
          `Object"${node.name.value}" implements the following custom interfaces: ${listed(custom)}`,
      );
    }
    const foreign = more.filter((name) => !isDeclared(name));
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
      this.#refuse(`duplicate fields: ${listed(twice)}found in the "${word}" "${upstream.name}"`);
    return this.#each(given, (field) => {
      const known = upstream.fields.find(({ name }) => name === field.name.value);
      if (known) return this.#field(field, known, word, upstream.name);
      return this.#refuse(`field "${field.name.value}" does not exist in the "${word}": "${upstream.name}"`);
    });
  }

  #field(node: FieldDefinitionNode, known: UpstreamField, word: string, owner: string): UpstreamField {
    const type = print(node.type);
    this.#checkDirectives(node, `${word} field`, owner);
    if (type !== known.type) this.#becauseOfType(node.name.value, `${word} field`, known.type, type);
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
    const twice = repeated(nodes.map(({ name }) => name.value));
    if (twice.length > 0) this.#refuse(`duplicate arguments: ${listed(twice)}found in the field: "${owner}"`);
    const isGiven = ({ name }: UpstreamInput) =>
      nodes.some((node) => node.name.value === name && node.type.kind === Kind.NON_NULL_TYPE);
    const missing = known.filter((each) => isRequired(each) && !isGiven(each));
    if (missing.length > 0) {
      this.#refuse(
        `field: "${owner}" expects the following non nullable arguments to be present: ` +
          listed(missing.map(({ name }) => name)),
      );
    }
    return this.#each(nodes, (node) => {
      const name = node.name.value;
      const upstream = known.find((each) => each.name === name);
      if (upstream) return this.#input(node, upstream, owner);
      return this.#refuse(`input argument "${name}" does not exist in the input object:"${owner}"`);
    });
  }

  #input(node: InputValueDefinitionNode, known: UpstreamInput, owner: string): UpstreamInput {
    const type = print(node.type);
    const directive = this.#checkDirectives(node, 'Input object argument', owner);
    if (type !== known.type) this.#becauseOfType(known.name, 'Input object argument', known.type, type);
    const [expected, received] = [printed(known.default), node.defaultValue ? print(node.defaultValue) : ''];
    if (expected !== received) {
      this.#because(
        `expected default value of input value: "${known.name}"of input object "${owner}" ` +
          `to be ${expected} but received ${received}`,
      );
    }
    const preset = directive && this.#preset(directive, type, known.name);
    return {
      ...known,
      description: node.description?.value ?? known.description,
      ...(preset ? { preset } : {}),
    };
  }

  /** Returns the preset of a directive. `type` is the type in the document, whose types it must fit. */
  #preset({ arguments: given = [] }: ConstDirectiveNode, type: string, name: string): Preset {
    if (given.length === 0) this.#refuse('no arguments found in the preset directive');
    const argument = (wanted: string) => given.find((each) => each.name.value === wanted)?.value;
    const [value, isStatic] = [argument('value'), argument('static')];
    if (!value) return this.#refuse(`preset argument "value" not found at "${name}"`);
    if (isStatic && isStatic.kind !== Kind.BOOLEAN) {
      this.#refuse('expected preset static value to be a Boolean value');
    }
    const mayBeSession = !(isStatic?.kind === Kind.BOOLEAN && isStatic.value);
    return this.#presetFrom(value, type, { name, mayBeSession });
  }

  #presetFrom(value: ConstValueNode, type: string, place: PresetPlace): Preset {
    if (value.kind === Kind.NULL) return { kind: 'literal', value };
    const text = place.mayBeSession && value.kind === Kind.STRING ? value.value : undefined;
    const session = text === undefined ? undefined : sessionVariableOf(text, this.#prefix);
    const meant = text === undefined ? undefined : meantBy(text, this.#prefix);
    if (meant !== undefined) {
      this.#refuse(
        `"${text}" at "${place.name}" looks like a session variable, and no session has it: did you mean "${meant}"? ` +
          'If the text itself is meant, add "static: true"',
      );
    }
    const element = elementType(type);
    if (element !== null) {
      if (session !== undefined) {
        this.#refuse(
          `illegal preset value at "${place.name}". Session arguments can only be set for singleton values`,
        );
      }
      const values = value.kind === Kind.LIST ? value.values : [value];
      return { kind: 'list', items: this.#all(values, (item) => this.#presetFrom(item, element, place)) };
    }
    const name = nullableType(type);
    const declared = this.#declared.get(name);
    if (declared?.kind === Kind.INPUT_OBJECT_TYPE_DEFINITION) {
      return this.#presetObject(value, declared, place);
    }
    const isInput = BUILT_IN_SCALARS.has(name) || (declared !== undefined && isLeaf(declared));
    if (!isInput) return this.#refuse(`expected "${name}" to be an input type, but it's an output type`);
    if (session !== undefined) return { kind: 'session', variable: session, type: name };
    const refusal = refusalOf(value, name, declared);
    return refusal === null ? { kind: 'literal', value } : this.#refuse(refusal);
  }

  #presetObject(value: ConstValueNode, declared: InputObjectTypeDefinitionNode, place: PresetPlace): Preset {
    const name = declared.name.value;
    if (value.kind !== Kind.OBJECT) {
      return this.#refuse(
        `expected preset value "${print(value)}" of type "${name}" to be an input object value`,
      );
    }
    const fields = this.#all(value.fields, (field): readonly [string, Preset] => {
      const key = field.name.value;
      const known = declared.fields?.find((each) => each.name.value === key);
      if (!known) return this.#refuse(`"${key}" does not exist in the input object "${name}"`);
      return [key, this.#presetFrom(field.value, print(known.type), { ...place, name: key })];
    });
    return { kind: 'object', fields };
  }

  /** Returns the results for all nodes, and is itself refused when one of them is. */
  #all<N, R>(nodes: readonly N[], check: (node: N) => R): readonly R[] {
    const results = this.#each(nodes, check);
    if (results.length < nodes.length) throw new Refused();
    return results;
  }

  #becauseOfType(name: string, place: string, expected: string, received: string): void {
    this.#because(`expected type of "${name}"("${place}") to be ${expected} but received ${received}`);
  }

  #checkReferences(type: UpstreamType): void {
    if (!('fields' in type)) return;
    const used = type.fields.flatMap((field) => [
      field.type,
      ...('arguments' in field
        ? field.arguments.filter(({ preset }) => !preset).map((each) => each.type)
        : []),
    ]);
    for (const name of new Set(used.map(namedType))) {
      // A type that was refused has its own reason.
      if (this.#declared.has(name) || BUILT_IN_SCALARS.has(name)) continue;
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

/** Directives of GraphQL itself that describe a definition and change nothing about it. */
const DESCRIBING: readonly string[] = ['deprecated', 'specifiedBy'];

const MISPLACED = 'Preset directives can be defined only on INPUT_FIELD_DEFINITION or ARGUMENT_DEFINITION';

/** Returns the names as `"a"`, `"a" and "b"` or `"a", "b", and "c"`. */
function listed(names: readonly string[]): string {
  const quoted = names.map((name) => `"${name}"`);
  if (quoted.length < 3) return quoted.join(' and ');
  return `${quoted.slice(0, -1).join(', ')}, and ${quoted.at(-1)}`;
}

/** The position of a preset. */
type PresetPlace = { readonly name: string; readonly mayBeSession: boolean };

/** Returns a default value as GraphQL prints it, whatever its spaces were; empty without one. */
function printed(value: string | null): string {
  try {
    return value === null ? '' : print(parseConstValue(value));
  } catch {
    return value ?? '';
  }
}

function isLeaf({ kind }: TypeDefinitionNode): boolean {
  return kind === Kind.SCALAR_TYPE_DEFINITION || kind === Kind.ENUM_TYPE_DEFINITION;
}

/** Returns the reason against a value of a scalar or an enum of the document; null without one. */
function refusalOf(
  value: ConstValueNode,
  name: string,
  declared: TypeDefinitionNode | undefined,
): string | null {
  const expected = (what: string) =>
    `expected preset value "${print(value)}" of type "${name}" to be ${what} value`;
  if (declared?.kind === Kind.ENUM_TYPE_DEFINITION) {
    if (value.kind !== Kind.ENUM) return expected('an enum');
    const isKnown = declared.values?.some((each) => each.name.value === value.value);
    return isKnown ? null : `"${value.value}" not found in the enum: "${name}"`;
  }
  // A scalar of the remote schema may take structured values, as JSON does.
  const isStructured = value.kind === Kind.OBJECT || value.kind === Kind.LIST;
  return value.kind === Kind.ENUM || (isStructured && BUILT_IN_SCALARS.has(name))
    ? expected('a scalar')
    : null;
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
