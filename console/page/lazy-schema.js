/** A GraphQL schema whose types are created when they are first named, and whose fields are parsed and built when they are first used. The library's
 *  `buildClientSchema` builds and walks all of them in one call, which takes a second for the administrator of a large model.
 *  Pure. In: a packed schema (packed-schema.js). Out: a schema that prints as that of `buildClientSchema`. */
import {
  GraphQLDirective,
  GraphQLEnumType,
  GraphQLInputObjectType,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLUnionType,
  introspectionTypes,
  parseConstValue,
  specifiedScalarTypes,
} from 'graphql';
import { membersOf } from './packed-schema.js';

const STANDARD_TYPES = new Map(
  [...specifiedScalarTypes, ...introspectionTypes].map((type) => [type.name, type]),
);

/** The library's schema with another way to find types. Its constructor gets none, because it would use all of them to find those that they refer to;
 *  its other methods find types with the ones that are replaced here. A schema of the engine is valid: a check would use all types, too. */
export class LazySchema extends GraphQLSchema {
  #types;
  #head;
  #implementations;
  #typeMap;
  /** What the schema is built from, which the thread of the editor needs. */
  packed;

  constructor(packed) {
    const types = new LazyTypes(packed);
    const { description, directives } = packed.head;
    super({ description, directives: directives.map((each) => types.directive(each)), assumeValid: true });
    this.packed = packed;
    this.#types = types;
    this.#head = packed.head;
  }

  getType(name) {
    return this.#types.find(name);
  }

  getTypeMap() {
    if (this.#typeMap === undefined) {
      this.#typeMap = Object.create(null);
      for (const { name } of this.#head.types) this.#typeMap[name] = this.getType(name);
    }
    return this.#typeMap;
  }

  getQueryType() {
    return this.#root(this.#head.queryType);
  }

  getMutationType() {
    return this.#root(this.#head.mutationType);
  }

  getSubscriptionType() {
    return this.#root(this.#head.subscriptionType);
  }

  getImplementations({ name }) {
    this.#implementations ??= implementationsIn(this.#head.types);
    const { objects, interfaces } = this.#implementations.get(name) ?? { objects: [], interfaces: [] };
    const find = (each) => this.getType(each);
    return { objects: objects.map(find), interfaces: interfaces.map(find) };
  }

  #root(root) {
    return root ? this.getType(root.name) : root;
  }
}

/** Returns the names of the objects and interfaces that implement each interface. */
function implementationsIn(heads) {
  const found = new Map();
  for (const { kind, name, interfaces = [] } of heads) {
    for (const implemented of interfaces) {
      if (!found.has(implemented)) found.set(implemented, { objects: [], interfaces: [] });
      found.get(implemented)[kind === 'OBJECT' ? 'objects' : 'interfaces'].push(name);
    }
  }
  return found;
}

/** The types of a packed schema by name, each created once. */
class LazyTypes {
  #packed;
  #positions;
  #created = new Map();

  constructor(packed) {
    this.#packed = packed;
    this.#positions = new Map(packed.head.types.map(({ name }, i) => [name, i]));
  }

  /** Returns the type; undefined if there is none of this name. */
  find(name) {
    if (!this.#positions.has(name)) return undefined;
    if (!this.#created.has(name)) {
      const type = STANDARD_TYPES.get(name) ?? this.#create(this.#positions.get(name));
      this.#created.set(name, type);
    }
    return this.#created.get(name);
  }

  directive({ args, ...directive }) {
    return new GraphQLDirective({ ...directive, args: this.#inputs(args) });
  }

  #create(i) {
    const {
      kind,
      interfaces = [],
      possibleTypes,
      specifiedByURL,
      isOneOf,
      ...named
    } = this.#packed.head.types[i];
    const members = () => membersOf(this.#packed, i);
    const implementing = {
      ...named,
      interfaces: () => interfaces.map((name) => this.#named(name)),
      fields: () => mapped(members(), (field) => this.#field(field)),
    };
    switch (kind) {
      case 'SCALAR':
        return new GraphQLScalarType({ ...named, specifiedByURL });
      case 'OBJECT':
        return new GraphQLObjectType(implementing);
      case 'INTERFACE':
        return new GraphQLInterfaceType(implementing);
      case 'UNION':
        return new GraphQLUnionType({
          ...named,
          types: () => possibleTypes.map((name) => this.#named(name)),
        });
      case 'ENUM':
        return new GraphQLEnumType({ ...named, values: () => mapped(members(), (value) => value) });
      case 'INPUT_OBJECT':
        return new GraphQLInputObjectType({ ...named, isOneOf, fields: () => this.#inputs(members()) });
      default:
        throw new Error(`The introspection has a type of an unknown kind: ${named.name}`);
    }
  }

  #field({ type, args = [], ...field }) {
    return { ...field, type: this.#typeOf(type), args: this.#inputs(args) };
  }

  #inputs(inputs) {
    return mapped(inputs, ({ type, defaultValue, ...input }) => ({
      ...input,
      type: this.#typeOf(type),
      default: defaultValue === undefined ? undefined : { literal: parseConstValue(defaultValue) },
    }));
  }

  /** Returns the type of a text such as `[book!]!`. */
  #typeOf(text) {
    if (text.endsWith('!')) return new GraphQLNonNull(this.#typeOf(text.slice(0, -1)));
    return text.startsWith('[') ? new GraphQLList(this.#typeOf(text.slice(1, -1))) : this.#named(text);
  }

  #named(name) {
    const type = this.find(name);
    if (type === undefined) throw new Error(`The introspection lacks the type ${name}.`);
    return type;
  }
}

/** Returns an object with a value for each of the named members. */
function mapped(members, valueFor) {
  const values = Object.create(null);
  for (const { name, ...member } of members) values[name] = valueFor(member);
  return values;
}
