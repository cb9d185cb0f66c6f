/** Fields of relationships that leave a source or start in a remote schema: rows of a source, like related rows of a table
 *  (one, many, and their aggregate), and values of a remote schema. A role has them if it may read the target. Clients give
 *  the remote arguments that the relationship does not. The Relay schema has none. Not here: the targets
 *  (resolve/remote-relationship.ts). Reference: docs/reference/behaviour/remote-schemas.md. */

import {
  type GraphQLFieldConfigArgumentMap,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLOutputType,
  getNullableType,
} from 'graphql';
import { remoteSchemaFor, targetOf } from '../resolve/access.ts';
import type { StepValue } from '../resolve/model/remote-step.ts';
import type { ResolvedRemoteRelationship, ResolvedTable } from '../resolve/model/table.ts';
import { fieldsAlong, stepsProblem } from '../resolve/remote-step.ts';
import type { UpstreamInput, UpstreamSchema } from '../resolve/upstream.ts';
import { aggregateOf } from './aggregate.ts';
import type { SchemaBuilder } from './builder.ts';
import {
  type FieldConfig,
  type FieldMap,
  fieldExtensions,
  fieldOrigin,
  type RemoteJoinOrigin,
  type RowsJoinOrigin,
} from './origin.ts';
import { RemoteTypes } from './remote-schema.ts';
import { relationshipField } from './rows.ts';

export function remoteRelationships(builder: SchemaBuilder, table: ResolvedTable): FieldMap {
  if (builder.isRelay || !table.remoteRelationships) return {};
  const maps = [...table.remoteRelationships.values()].map((relationship) =>
    joinedFields(builder, table.typeName, relationship),
  );
  return Object.assign({}, ...maps);
}

/** Returns the fields of a remote relationship; `owner` is the type that has them. */
export function joinedFields(
  builder: SchemaBuilder,
  owner: string,
  { name, keys, target }: ResolvedRemoteRelationship,
): FieldMap {
  if (target.kind === 'source') return rowsFields(builder, keys, target);
  const { remote, steps } = target;
  const part = remoteSchemaFor(remote, builder.role);
  if (!part || stepsProblem(steps, part, keys) !== null) return {};
  const to = { kind: 'remote', remote, part, steps } as const;
  const suffix = `_remote_rel_${owner}${name}`;
  const extensions = fieldExtensions({ kind: 'joined', keys, to });
  return { [name]: { ...remoteField(builder, to, suffix), extensions } };
}

type SourceTarget = Extract<ResolvedRemoteRelationship['target'], { kind: 'source' }>;

function rowsFields(
  builder: SchemaBuilder,
  keys: ResolvedRemoteRelationship['keys'],
  { source, relationship, keyTypes }: SourceTarget,
): FieldMap {
  const target = targetOf(builder.model, source, relationship.join.table);
  if (!builder.select(target)) return {};
  const related = { relationship, target };
  const fields = {
    [relationship.name]: relationshipField(builder, related),
    ...aggregateOf(builder, related, target.naming),
  };
  return Object.fromEntries(
    Object.entries(fields).map(([name, config]): [string, FieldConfig] => {
      const to: RowsJoinOrigin = {
        kind: 'rows',
        keyTypes,
        related: fieldOrigin(config) as RowsJoinOrigin['related'],
      };
      return [name, { ...config, extensions: fieldExtensions({ kind: 'joined', keys, to }) }];
    }),
  );
}

function remoteField(builder: SchemaBuilder, { remote, part, steps }: RemoteJoinOrigin, suffix: string) {
  const types = new RemoteTypes(builder, remote, part);
  const field = fieldsAlong(steps, part).at(-1)!;
  const left = new LeftToGive(builder, types, part, suffix);
  return {
    // The value is nullable: a key may be null or unknown to the remote schema.
    type: getNullableType(types.wrapped(field.type)) as GraphQLOutputType,
    description: field.description,
    deprecationReason: field.deprecation,
    args: left.inputs(field.arguments, steps.at(-1)!.arguments),
  };
}

/** The arguments that the relationship leaves to the client. */
class LeftToGive {
  readonly #builder: SchemaBuilder;
  readonly #types: RemoteTypes;
  readonly #part: UpstreamSchema;
  readonly #suffix: string;

  constructor(builder: SchemaBuilder, types: RemoteTypes, part: UpstreamSchema, suffix: string) {
    this.#builder = builder;
    this.#types = types;
    this.#part = part;
    this.#suffix = suffix;
  }

  inputs(
    inputs: readonly UpstreamInput[],
    given: ReadonlyMap<string, StepValue>,
  ): GraphQLFieldConfigArgumentMap & GraphQLInputFieldConfigMap {
    const maps = inputs.map((input) => {
      const value = given.get(input.name);
      if (!value) return this.#types.inputs([input]);
      const type = input.preset ? null : this.#reduced(input.type, value);
      return type ? { [input.name]: { type, description: input.description } } : {};
    });
    return Object.assign({}, ...maps);
  }

  /** Returns the remaining fields of an input object that the relationship fills in part; null when none remain. */
  #reduced(type: string, value: StepValue): GraphQLInputObjectType | null {
    const named = this.#part.types.get(type.replace(/!$/, ''));
    if (named?.kind !== 'input' || value.kind !== 'object') return null;
    const fields = this.inputs(named.fields, value.fields);
    if (Object.keys(fields).length === 0) return null;
    const name = `${this.#types.nameOf(named.name)}${this.#suffix}`;
    return this.#builder.named(name, () => {
      return new GraphQLInputObjectType({ name, description: named.description, fields });
    });
  }
}
