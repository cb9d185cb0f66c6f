/** The schemas by role, built at the first request of a role and dropped with their model. A RoleSchema is also the key of the
 *  plan cache, so a new model never uses an old plan. Requests traverse the root types, which build the types they reach; only
 *  introspection needs the whole schema. */
import type { GraphQLSchema } from 'graphql';
import { SharedSteps, type Steps } from '../metadata/steps.ts';
import type { Model } from '../resolve/model/model.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import { buildRoots, type Roots } from './build.ts';
import { type RecursiveBuilders, SchemaBuilder, type SchemaScope } from './builder.ts';
import { joinedFields } from './remote-relationship.ts';
import { objectType } from './table.ts';
import { type ReachedSchema, reachedSchema, wholeSchema } from './whole-schema.ts';

export type RoleSchema = {
  readonly role: string;
  readonly model: Model;
  readonly roots: Roots;
  readonly builder: SchemaBuilder;
  /** Builds every type, anew at every call: thousands of types that no other request needs. */
  readonly schema: () => GraphQLSchema;
  /** Builds every type in steps, for introspection, unless they are still in memory. */
  readonly reachedSchema: () => Steps<ReachedSchema>;
};

/** The schemas of a role: with and without permissions for backends only, as tables and as connections. */
type Variants = (SharedSteps<RoleSchema> | undefined)[];

const built = new WeakMap<Model, Map<string, Variants>>();
/** The entry of all roles that a model does not name. No role has an empty name. */
const UNKNOWN_ROLE = '';

/** Returns the schema of a role. All roles that the model does not name share one empty schema, and the same policy. */
export function roleSchema(
  model: Model,
  role: string,
  mayUseBackendOnly: boolean,
  isRelay = false,
): RoleSchema {
  return sharedSchema(model, role, mayUseBackendOnly, isRelay).finish();
}

/** Returns the steps that are left of building the schema of a role; none are left once it is built. */
export function roleSchemaSteps(...key: Parameters<typeof roleSchema>): Steps<RoleSchema> {
  return sharedSchema(...key).steps();
}

/** True when the schema of a role is built. */
export function hasRoleSchema(
  model: Model,
  role: string,
  mayUseBackendOnly: boolean,
  isRelay = false,
): boolean {
  return sharedSchema(model, role, mayUseBackendOnly, isRelay).isFinished;
}

function sharedSchema(
  model: Model,
  role: string,
  mayUseBackendOnly: boolean,
  isRelay = false,
): SharedSteps<RoleSchema> {
  let ofModel = built.get(model);
  if (!ofModel) {
    ofModel = new Map();
    built.set(model, ofModel);
  }
  const ofRole = ofModel.get(role) ?? variantsOf(ofModel, model, role);
  const variant = (isRelay ? 2 : 0) + (mayUseBackendOnly ? 1 : 0);
  const known = ofRole[variant];
  if (known) return known;
  const shared = new SharedSteps(() => buildRole({ model, role, mayUseBackendOnly, isRelay }));
  ofRole[variant] = shared;
  return shared;
}

function variantsOf(ofModel: Map<string, Variants>, model: Model, role: string): Variants {
  const isKnown = model.roles.has(role) || model.requestPolicies.byRole.has(role) || role === ADMIN_ROLE;
  const name = isKnown ? role : UNKNOWN_ROLE;
  const variants = ofModel.get(name) ?? [];
  ofModel.set(name, variants);
  return variants;
}

const RECURSIVE: RecursiveBuilders = { objectType, joinedFields };

function* buildRole(scope: SchemaScope): Steps<RoleSchema> {
  const { model, role } = scope;
  const builder = new SchemaBuilder(scope, RECURSIVE);
  const whole = () => new SchemaBuilder(scope, RECURSIVE, true);
  return {
    role,
    model,
    builder,
    roots: yield* buildRoots(builder),
    schema: () => wholeSchema(whole()),
    reachedSchema: keptWeakly(() => reachedSchema(whole())),
  };
}

/** Returns steps whose result is kept until memory is collected: introspections in a row share it, and it takes no memory that is needed. */
function keptWeakly<T extends object>(begin: () => Steps<T>): () => Steps<T> {
  let kept: WeakRef<T> | undefined;
  return function* () {
    const known = kept?.deref();
    if (known) return known;
    const result = yield* begin();
    kept = new WeakRef(result);
    return result;
  };
}
