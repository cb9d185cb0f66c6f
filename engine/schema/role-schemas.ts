/** Schemas by role, built when a role first asks and dropped with their model. A RoleSchema is also the key under which
 *  plans are kept, so a new model never sees an old plan. */
import type { GraphQLSchema } from 'graphql';
import type { Model } from '../resolve/types.ts';
import { buildSchema } from './build.ts';
import { SchemaBuilder } from './builder.ts';

export type RoleSchema = {
  readonly role: string;
  readonly model: Model;
  readonly schema: GraphQLSchema;
  readonly builder: SchemaBuilder;
};

const built = new WeakMap<Model, Map<string, RoleSchema>>();

/** Roles a model does not name all have the same empty schema. */
export function roleSchema(model: Model, role: string, mayUseBackendOnly: boolean): RoleSchema {
  let ofModel = built.get(model);
  if (!ofModel) {
    ofModel = new Map();
    built.set(model, ofModel);
  }
  const known = model.roles.has(role) || role === 'admin';
  const key = known ? `${mayUseBackendOnly ? 'b' : '-'}${role}` : '';
  let schema = ofModel.get(key);
  if (!schema) {
    const builder = new SchemaBuilder(model, role, mayUseBackendOnly);
    schema = { role, model, builder, schema: buildSchema(builder) };
    ofModel.set(key, schema);
  }
  return schema;
}
