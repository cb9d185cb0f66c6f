/** The plan cache. (role schema, text, operation name) → document, and (document, shape of the variables) → PreparedPlan.
 *  A hit costs two look-ups and the check of the variables. Parsing, validating and planning (0.1 to 1 ms) happen once.
 *  Both levels are part of the budget of caches, so that no client can fill the memory with texts, or with values of `limit`, which are
 *  part of a shape. They belong to a model, and end with it. */
import { createHash } from 'node:crypto';
import { Cache, SHARED_BUDGET } from '../limits/cache-budget.ts';
import { inSlices, nextTurn } from '../limits/slices.ts';
import { finish, type Steps } from '../metadata/steps.ts';
import { conditionsAmong } from '../plan/conditions.ts';
import type { PreparedDocument, VariableDependencies } from '../plan/context.ts';
import { OperationUsage, variableCoordinates } from '../plan/coordinates.ts';
import { prepareDocument } from '../plan/document.ts';
import { planRequest } from '../plan/plan.ts';
import type { SchemaText } from '../plan/schema-text.ts';
import type { Plan } from '../plan/types.ts';
import { coerceVariables, NO_DEPENDENCIES, type RequestVariables } from '../plan/variables.ts';
import { clusterOf } from '../resolve/distributions.ts';
import type { Model } from '../resolve/model/model.ts';
import type { Leaf } from '../resolve/predicate.ts';
import { reactionTo } from '../resolve/reactions.ts';
import { type RequestPolicy, requestPolicyOf } from '../resolve/request-policy.ts';
import { ADMIN_ROLE, type Session } from '../resolve/session.ts';
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
  /** The work of the request as a number of fields. */
  readonly size: number;
  /** The part of the schema that the request uses. Requests that use the same part of a document have the same object. Null for a role that the
   *  metadata does not name. */
  readonly usage: OperationUsage | null;
};

/** The estimated bytes of a document: a fixed part, and its syntax tree for each character. Measured, with the plan: 8 kB of heap for a
 *  text of 33 characters, 15 kB for one of 253. */
const DOCUMENT_BYTES = 2000;
const DOCUMENT_BYTES_PER_CHARACTER = 25;
/** The estimated bytes of a plan without texts and parameters. */
const PLAN_BYTES = 3000;

type CachedDocument = {
  readonly document: PreparedDocument;
  readonly operationName: string | null;
  /** The number its plans are cached under. */
  readonly id: number;
  /** The dependencies of the document's plans on values, as found so far. */
  dependencies: VariableDependencies;
  /** The usage of the plan that was made last. */
  lastUsage: OperationUsage | null;
};

/** The plan of requests with the same document and the same shape of variables, and its size and usage. */
type CachedPlan = Pick<PlannedRequest, 'plan' | 'size' | 'usage'>;

/** The caches for the requests of a model. */
class ModelCaches {
  readonly plans = new Cache<string, CachedPlan>('plans');
  readonly texts = new Cache<SchemaText, string | Buffer>('introspections');
  readonly #documents = new Map<RoleSchema, Cache<string, CachedDocument>>();
  #hasEnded = false;

  documentsOf(role: RoleSchema): Cache<string, CachedDocument> {
    let documents = this.#documents.get(role);
    if (!documents) {
      documents = new Cache('documents');
      this.#documents.set(role, documents);
      if (this.#hasEnded) documents.end();
    }
    return documents;
  }

  end(): void {
    this.#hasEnded = true;
    this.plans.end();
    this.texts.end();
    for (const documents of this.#documents.values()) documents.end();
  }
}

const caches = new WeakMap<Model, ModelCaches>();
let count = 0;
let hits = 0;
let misses = 0;

/** Returns hits and misses since the process started, and the number of cached plans. */
export function planCacheCounts(): {
  readonly hits: number;
  readonly misses: number;
  readonly plans: number;
} {
  return { hits, misses, plans: SHARED_BUDGET.sizes.get('plans')?.entries ?? 0 };
}

function cachesOf(model: Model): ModelCaches {
  let ofModel = caches.get(model);
  if (!ofModel) {
    ofModel = new ModelCaches();
    caches.set(model, ofModel);
  }
  return ofModel;
}

/** Returns the cache of texts about the schemas of a model. */
export function schemaTextsOf(model: Model): Cache<SchemaText, string | Buffer> {
  return cachesOf(model).texts;
}

/** Removes what is cached for the model that was served until now. Requests that still use it are planned each time, because what they
 *  would cache would keep the whole model in memory. The next model may have been served before. */
export function replacePlanCache(previous: Model | undefined, next: Model | undefined): void {
  if (previous) cachesOf(previous).end();
  if (next) caches.delete(next);
}

/** Returns the plan of a request. Raises what parsing, validation and planning raise. */
export function cachedPlan(role: RoleSchema, request: GraphqlRequest): PlannedRequest {
  const cached = documentOf(role, request);
  const variables = coerceVariables(cached.document, request.variables ?? null, cached.dependencies);
  return planOfShape(role, request, cached, variables) ?? finish(planning(role, request, cached, variables));
}

/** Returns the plan of a request. One with many values is planned in several turns of the event loop, if its plan is not cached. */
export function planInTurns(
  role: RoleSchema,
  request: GraphqlRequest,
): PlannedRequest | Promise<PlannedRequest> {
  const cached = documentOf(role, request);
  const variables = coerceVariables(cached.document, request.variables ?? null, cached.dependencies);
  const found = planOfShape(role, request, cached, variables);
  if (found) return found;
  const steps = planning(role, request, cached, variables);
  return variables.isLong ? nextTurn().then(() => inSlices(steps)) : finish(steps);
}

/** Returns the cached plan of a document for variables of this shape. */
function planOfShape(
  role: RoleSchema,
  { query: text }: GraphqlRequest,
  { id, document }: CachedDocument,
  variables: RequestVariables,
): PlannedRequest | null {
  const hit = cachesOf(role.model).plans.get(`${id} ${variables.shape}`);
  if (!hit) return null;
  hits += 1;
  const { plan, usage, size } = hit;
  return { plan, usage, variables, text, operationName: nameOf(document), size };
}

function nameOf({ operation }: PreparedDocument): string | null {
  return operation.name?.value ?? null;
}

/** Plans a request, and caches the plan. */
function* planning(
  role: RoleSchema,
  request: GraphqlRequest,
  cached: CachedDocument,
  variables: RequestVariables,
): Steps<PlannedRequest> {
  misses += 1;
  const { query: text } = request;
  const { document, id } = cached;
  const operationName = nameOf(document);
  const begin = performance.now();
  const { plan: unprepared, dependencies, size } = planRequest(document, variables, cached.dependencies);
  yield;
  const limits = {
    ...limitsOf(requestPolicyOf(role.model, role.role)),
    isByAdministrator: role.role === ADMIN_ROLE,
  };
  const plan = prepared(unprepared, limits, role.model, { text, operationName });
  yield;
  const isSameShape = dependencies === cached.dependencies;
  cached.dependencies = dependencies;
  const { shape } = isSameShape
    ? variables
    : coerceVariables(document, request.variables ?? null, dependencies);
  const usage = role.model.roles.has(role.role) ? usageOf(cached, variables) : null;
  const used = `${id} ${shape}`;
  const milliseconds = performance.now() - begin;
  cachesOf(role.model).plans.set(used, { plan, usage, size }, { bytes: bytesOf(plan, used), milliseconds });
  return { plan, usage, variables, text, operationName, size };
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
  const ofRole = cachesOf(role.model).documentsOf(role);
  const key = operationName === null ? text : `${operationName}\n${text}`;
  const hit = ofRole.get(key);
  // A name may end like another text begins, so the key alone is not enough.
  if (hit && hit.operationName === operationName) return hit;
  const conditions = conditionsAmong(variables);
  const conditionalKey = `${JSON.stringify([...conditions])}\n${key}`;
  const conditional = ofRole.get(conditionalKey);
  if (conditional && conditional.operationName === operationName) return conditional;
  const begin = performance.now();
  const document = prepareDocument(role, text, operationName, conditions);
  const cached: CachedDocument = {
    document,
    operationName,
    id: count++,
    dependencies: NO_DEPENDENCIES,
    lastUsage: null,
  };
  const used = document.conditions.size > 0 ? conditionalKey : key;
  const bytes = DOCUMENT_BYTES + DOCUMENT_BYTES_PER_CHARACTER * used.length;
  ofRole.set(used, cached, { bytes, milliseconds: performance.now() - begin });
  return cached;
}

/** Returns the estimated bytes of a plan: text twice a character, a parameter some 200 bytes. */
function bytesOf(plan: PreparedPlan, key: string): number {
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
  return PLAN_BYTES + 2 * total(texts.map(({ length }) => length)) + 200 * total(leaves);
}

function sizeOf(leaf: Leaf): number {
  return leaf.kind === 'list' ? 1 + total(leaf.items.map(sizeOf)) : 1;
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** The default limits apply to roles without limits of their own. */
function limitsOf({
  timeLimitMs,
  defaultTimeLimitMs,
  mostResponseBytes,
  defaultResponseBytes,
}: RequestPolicy): Omit<StatementLimits, 'isByAdministrator'> {
  return {
    timeLimitMs,
    limitMs: timeLimitMs === null ? defaultTimeLimitMs : null,
    mostResponseBytes: mostResponseBytes ?? defaultResponseBytes,
  };
}

/** Prepares a plan that was not made from the text of a request, and runs once. */
export function preparedOnce(
  plan: Plan,
  { sources, session }: Pick<Model, 'sources'> & { readonly session: Session },
): PreparedPlan {
  const limits = {
    timeLimitMs: null,
    limitMs: null,
    mostResponseBytes: null,
    isByAdministrator: session.role === ADMIN_ROLE,
  };
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
    reactionTo: (source, table) => reactionTo(sources.get(source)?.reactions, table),
    clusterOf: (source) => clusterOf(sources.get(source)),
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
