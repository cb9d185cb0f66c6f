/** The plan cache. (role schema, text, operation name) → document, and (document, shape of the variables) → PreparedPlan.
 *  A hit costs two look-ups and the check of the variables. Parsing, validating and planning (0.1 to 1 ms) happen once.
 *  Both levels are bounded, so that no client can fill the memory with texts, or with values of `limit`, which are part of a shape.
 *  A new model has new role schemas, and plans of the old ones are not found again. */
import { createHash } from 'node:crypto';
import { Lru } from '../limits/lru.ts';
import { conditionsAmong } from '../plan/conditions.ts';
import type { PreparedDocument, VariableDependencies } from '../plan/context.ts';
import { OperationUsage, variableCoordinates } from '../plan/coordinates.ts';
import { prepareDocument } from '../plan/document.ts';
import { planRequest } from '../plan/plan.ts';
import type { Plan } from '../plan/types.ts';
import { coerceVariables, NO_DEPENDENCIES, type RequestVariables } from '../plan/variables.ts';
import type { Leaf } from '../resolve/predicate.ts';
import { type RequestPolicy, requestPolicyOf } from '../resolve/request-policy.ts';
import { ADMIN_ROLE, type Session } from '../resolve/session.ts';
import type { Model } from '../resolve/types.ts';
import type { RoleSchema } from '../schema/role-schemas.ts';
import {
  type Preparation,
  type PreparationOf,
  type PreparedPlan,
  preparePlan,
  type StatementLimits,
} from '../sql/plan.ts';
import { tagged } from '../sql/query-tags.ts';

export type GraphqlRequest = {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: Readonly<Record<string, unknown>> | null;
};

export type PlannedRequest = {
  readonly plan: PreparedPlan;
  readonly variables: RequestVariables;
  /** The document as the client wrote it. */
  readonly text: string;
  /** The name of the operation in the document. */
  readonly operationName: string | null;
  /** The part of the schema that the request uses. Requests that use the same part of a document have the same object. Null for a role that the
   *  metadata does not name. */
  readonly usage: OperationUsage | null;
};

/** The characters of request text that are cached for one role schema. */
const MOST_TEXT = 1_000_000;
/** The weight of a document in addition to its text: at most 500 of them are cached. */
const DOCUMENT_WEIGHT = 2000;
/** The estimated bytes of plans in the cache of the process: some 10,000 plans of ordinary size. */
const MOST_PLANS = 64_000_000;

type CachedDocument = {
  readonly document: PreparedDocument;
  readonly operationName: string | null;
  /** The number its plans are cached under. */
  readonly id: number;
  /** The dependencies of the document's plans on values, as found so far. */
  dependencies: VariableDependencies;
  /** The usage of each plan of the document. */
  readonly usages: WeakMap<PreparedPlan, OperationUsage>;
  /** The one of the plan that was made last. */
  lastUsage: OperationUsage | null;
};

const documents = new WeakMap<RoleSchema, Lru<string, CachedDocument>>();
const plans = new Lru<string, PreparedPlan>(MOST_PLANS);
let count = 0;
let hits = 0;
let misses = 0;

/** Returns hits and misses since the process started, and the number of cached plans. */
export function planCacheCounts(): {
  readonly hits: number;
  readonly misses: number;
  readonly plans: number;
} {
  return { hits, misses, plans: plans.size };
}

/** Returns the plan of a request. Raises what parsing, validation and planning raise. */
export function cachedPlan(role: RoleSchema, request: GraphqlRequest): PlannedRequest {
  const { query: text } = request;
  const cached = documentOf(role, request);
  const { document, id } = cached;
  const given = request.variables ?? null;
  const variables = coerceVariables(document, given, cached.dependencies);
  const operationName = document.operation.name?.value ?? null;
  const hit = plans.get(`${id} ${variables.shape}`);
  if (hit) {
    hits += 1;
    return { plan: hit, usage: cached.usages.get(hit) ?? null, variables, text, operationName };
  }
  misses += 1;
  const { plan: unprepared, dependencies } = planRequest(document, variables, cached.dependencies);
  const limits = {
    ...limitsOf(requestPolicyOf(role.model, role.role)),
    isByAdministrator: role.role === ADMIN_ROLE,
  };
  const plan = prepared(unprepared, limits, role.model, { text, operationName });
  const isSameShape = dependencies === cached.dependencies;
  cached.dependencies = dependencies;
  const { shape } = isSameShape ? variables : coerceVariables(document, given, dependencies);
  const usage = role.model.roles.has(role.role) ? usageOf(cached, variables) : null;
  if (usage) cached.usages.set(plan, usage);
  const key = `${id} ${shape}`;
  plans.set(key, plan, weightOf(plan, key));
  return { plan, usage, variables, text, operationName };
}

/** Returns the usage of a plan. Plans that differ only in what is not part of the schema, such as the length of a list, share it. */
function usageOf(cached: CachedDocument, variables: RequestVariables): OperationUsage {
  const inVariables = variableCoordinates(cached.document, variables);
  const last = cached.lastUsage;
  if (last && isSameList(last.inVariables, inVariables)) return last;
  cached.lastUsage = new OperationUsage(cached.document, inVariables);
  return cached.lastUsage;
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((each, i) => each === other[i]);
}

/** Returns the variables that a request declares, by name. Raises what parsing and validation raise. */
export function declaredVariables(role: RoleSchema, request: GraphqlRequest): PreparedDocument['variables'] {
  return documentOf(role, request).document.variables;
}

function documentOf(
  role: RoleSchema,
  { query: text, operationName = null, variables = null }: GraphqlRequest,
): CachedDocument {
  let ofRole = documents.get(role);
  if (!ofRole) {
    ofRole = new Lru(MOST_TEXT);
    documents.set(role, ofRole);
  }
  const key = operationName === null ? text : `${operationName}\n${text}`;
  const hit = ofRole.get(key);
  // A name may end like another text begins, so the key alone is not enough.
  if (hit && hit.operationName === operationName) return hit;
  const conditions = conditionsAmong(variables);
  const conditionalKey = `${JSON.stringify([...conditions])}\n${key}`;
  const conditional = ofRole.get(conditionalKey);
  if (conditional && conditional.operationName === operationName) return conditional;
  const document = prepareDocument(role, text, operationName, conditions);
  const cached: CachedDocument = {
    document,
    operationName,
    id: count++,
    dependencies: NO_DEPENDENCIES,
    usages: new WeakMap(),
    lastUsage: null,
  };
  const used = document.conditions.size > 0 ? conditionalKey : key;
  ofRole.set(used, cached, used.length + DOCUMENT_WEIGHT);
  return cached;
}

/** Returns the estimated bytes of a plan: text twice a character, a parameter some 200 bytes, 1000 for the rest. */
function weightOf(plan: PreparedPlan, key: string): number {
  const keyed = [...plan.steps, ...plan.keyedSteps].flatMap((step) =>
    'rows' in step ? step.rows.statements : [],
  );
  const statements = [...plan.statements, ...keyed];
  const texts = [
    key,
    ...plan.steps.map((step) => (step.kind === 'remote' ? step.call.query : '')),
    ...plan.keyedSteps.map((step) => (step.kind === 'remote' ? step.join.selection : '')),
    ...statements.flatMap(({ text, forMany, answer, nestedWrites }) => [
      text,
      forMany?.once.text ?? '',
      answer?.text ?? '',
      ...nestedWrites.map((write) => write.text),
    ]),
    ...plan.template.map((part) => (part.kind === 'text' ? part.text : '')),
  ];
  const leaves = statements
    .flatMap((statement) => [statement, ...statement.nestedWrites])
    .flatMap(({ parameters }) => parameters.map((leaf) => sizeOf(leaf)));
  return 1000 + 2 * total(texts.map(({ length }) => length)) + 200 * total(leaves);
}

function sizeOf(leaf: Leaf): number {
  return leaf.kind === 'list' ? 1 + total(leaf.items.map(sizeOf)) : 1;
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** The default limit applies to statements of roles without a limit of their own. */
function limitsOf({
  timeLimitMs,
  defaultTimeLimitMs,
}: RequestPolicy): Omit<StatementLimits, 'isByAdministrator'> {
  return { timeLimitMs, limitMs: timeLimitMs === null ? defaultTimeLimitMs : null };
}

/** Prepares a plan that was not made from the text of a request, and runs once. */
export function preparedOnce(
  plan: Plan,
  { sources, session }: Pick<Model, 'sources'> & { readonly session: Session },
): PreparedPlan {
  const limits = { timeLimitMs: null, limitMs: null, isByAdministrator: session.role === ADMIN_ROLE };
  return prepared(plan, limits, { sources }, { text: '', operationName: null });
}

function prepared(
  plan: Plan,
  limits: StatementLimits,
  { sources }: Pick<Model, 'sources'>,
  request: Pick<PlannedRequest, 'text' | 'operationName'>,
): PreparedPlan {
  return preparePlan(plan, {
    limits,
    prepare: (text, about) => preparationOf(taggedText(text, about, sources, request), about),
    isWatched: (source) => sources.get(source)?.hasTriggers ?? false,
  });
}

function taggedText(
  text: string,
  { source, roots }: PreparationOf,
  sources: Model['sources'],
  request: Pick<PlannedRequest, 'text' | 'operationName'>,
): string {
  const tags = sources.get(source)?.queryTags;
  if (!tags) return text;
  const { operationName } = request;
  return tagged(text, tags, { fields: roots, operation: operationName, digest: digestOf(request.text) });
}

/** A statement is named by its text, so that equal statements of different plans are prepared once. */
function preparationOf(text: string, { isRead, mayShare, hasRows = false }: PreparationOf): Preparation {
  const once = { name: '', text, isRead, mayShare, hasRows };
  return { named: { ...once, name: digestOf(text) }, once, wasUsed: false };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 32);
}
