/** Requests already understood: (role schema, text, operation name) → document, and by the shape of the variables → plan,
 *  ready to run. A hit costs two look-ups and the check of the variables; parsing, validating, planning and rendering
 *  (0.1 to 1 ms) happen once. Bounded both ways, so that no client can fill the memory: neither with texts nor with
 *  `limit`s, whose values are part of a shape. A new model has new role schemas, and old plans are not found again. */
import { createHash } from 'node:crypto';
import type { NamedStatement } from '../database/pool.ts';
import { Lru } from '../limits/lru.ts';
import type { PreparedDocument } from '../plan/context.ts';
import { prepareDocument } from '../plan/document.ts';
import { planRequest } from '../plan/plan.ts';
import { coerceVariables, type RequestVariables } from '../plan/variables.ts';
import type { Leaf } from '../resolve/predicate.ts';
import { type RequestPolicy, requestPolicyOf } from '../resolve/request-policy.ts';
import { ADMIN_ROLE, type Session } from '../resolve/session.ts';
import type { Model } from '../resolve/types.ts';
import type { RoleSchema } from '../schema/role-schemas.ts';
import {
  type CompiledCall,
  type CompiledJoin,
  type CompiledPlan,
  type CompiledStatement,
  type CompiledStep,
  renderPlan,
  type TemplatePart,
} from '../sql/plan.ts';
import { type QueryTag, tagged } from '../sql/query-tags.ts';
import { bytesOf } from './splice.ts';

export type GraphqlRequest = {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: Readonly<Record<string, unknown>> | null;
};

/** A statement's two names. Only from its second use on is it worth preparing. */
export type Preparation = {
  readonly named: NamedStatement;
  readonly once: NamedStatement;
  wasUsed: boolean;
};

export type ReadyStatement = Omit<CompiledStatement, 'answer' | 'forMany' | 'steps'> & {
  readonly preparation: Preparation;
  /** Of the statement that asks for many at once. */
  readonly forMany: Preparation | null;
  /** Of the whole request. */
  readonly timeLimitMs: number | null;
  /** An administrator runs it, who reads every row. */
  readonly isByAdministrator: boolean;
  /** The time limit of this statement or its transaction, when the request has no limit of its own. */
  readonly limitMs: number | null;
  /** Its source has triggers, which may ask who writes. */
  readonly isWatched: boolean;
  readonly answer: ReadyStatement | null;
  readonly steps: readonly ReadyStep[];
};

/** Steps of a plan with one text share one preparation. */
export type ReadyStep = CompiledStep &
  Pick<ReadyStatement, 'isByAdministrator'> & { readonly preparation: Preparation };

export type ReadyPlan = {
  readonly operation: CompiledPlan['operation'];
  readonly operationName: string | null;
  readonly validations: CompiledPlan['validations'];
  /** Of the role. */
  readonly timeLimitMs: number | null;
  readonly statements: readonly ReadyStatement[];
  readonly calls: readonly ReadyCall[];
  readonly joins: readonly ReadyJoin[];
  /** Of the whole response: `{"data":{…}}`. */
  readonly template: readonly TemplatePart[];
  /** Instead of the template, where all of a query's answer is in it and it is long: the parts as bytes. */
  readonly fixed: readonly Buffer[] | null;
};

export type ReadyCall = Omit<CompiledCall, 'statements'> & {
  readonly statements: readonly ReadyStatement[];
};

export type ReadyJoin = Omit<CompiledJoin, 'statement'> & { readonly statement: ReadyStatement | null };

export type PlannedRequest = {
  readonly plan: ReadyPlan;
  readonly variables: RequestVariables;
  /** What was asked, as it was written. */
  readonly text: string;
};

/** Characters of request text kept for one role schema. */
const MOST_TEXT = 1_000_000;
/** What a document weighs besides its text: at most 500 of them are kept. */
const DOCUMENT_WEIGHT = 2000;
/** Bytes of plans kept by the process, estimated: some 10,000 plans of ordinary size. */
const MOST_PLANS = 64_000_000;
/** Bytes from which on a fixed answer is kept as bytes. */
const LEAST_FIXED = 64_000;
/** Bytes of fixed answers kept for a model: introspection of its largest roles, beside all plans. */
const MOST_FIXED = 128_000_000;

/** A document, and the number its plans are kept under. */
type Known = {
  readonly document: PreparedDocument;
  readonly operationName: string | null;
  readonly id: number;
};

const documents = new WeakMap<RoleSchema, Lru<string, Known>>();
const plans = new Lru<string, ReadyPlan>(MOST_PLANS);
const fixedPlans = new WeakMap<Model, Lru<string, ReadyPlan>>();
let count = 0;
let hits = 0;
let misses = 0;

/** Since the process began, and plans kept now. */
export function planCacheCounts(): {
  readonly hits: number;
  readonly misses: number;
  readonly plans: number;
} {
  return { hits, misses, plans: plans.size };
}

/** Raises what parsing, validation and planning raise. */
export function planned(role: RoleSchema, request: GraphqlRequest): PlannedRequest {
  const { document, id } = documentOf(role, request.query, request.operationName ?? null);
  const variables = coerceVariables(document, request.variables ?? null);
  const key = `${id} ${variables.shape}`;
  const kept = plans.get(key) ?? fixedPlans.get(role.model)?.get(key);
  if (kept) {
    hits += 1;
    return { plan: kept, variables, text: request.query };
  }
  misses += 1;
  const before = document.byValue.size + document.facets.size;
  const plan = ready(renderPlan(planRequest(document, variables)), {
    ...limitsOf(requestPolicyOf(role.model, role.role)),
    isByAdministrator: role.role === ADMIN_ROLE,
    sources: role.model.sources,
    asked: { operation: document.operation.name?.value ?? null, text: request.query },
  });
  // Planning may have found out that more of the variables matters.
  const isSameShape = document.byValue.size + document.facets.size === before;
  const { shape } = isSameShape ? variables : coerceVariables(document, request.variables ?? null);
  keep(role.model, `${id} ${shape}`, plan);
  return { plan, variables, text: request.query };
}

function keep(model: Model, key: string, plan: ReadyPlan): void {
  if (!plan.fixed) {
    plans.set(key, plan, weightOf(plan, key));
    return;
  }
  const ofModel = fixedPlans.get(model) ?? new Lru(MOST_FIXED);
  fixedPlans.set(model, ofModel);
  ofModel.set(key, plan, total(plan.fixed.map(({ length }) => length)));
}

/** The variables a request may give, by name. Raises what parsing and validation raise. */
export function declaredVariables(
  role: RoleSchema,
  { query, operationName = null }: GraphqlRequest,
): PreparedDocument['variables'] {
  return documentOf(role, query, operationName).document.variables;
}

function documentOf(role: RoleSchema, text: string, operationName: string | null): Known {
  let ofRole = documents.get(role);
  if (!ofRole) {
    ofRole = new Lru(MOST_TEXT);
    documents.set(role, ofRole);
  }
  const key = operationName === null ? text : `${operationName}\n${text}`;
  const kept = ofRole.get(key);
  // A name may end like another text begins: then the key alone is not enough.
  if (kept && kept.operationName === operationName) return kept;
  const document = prepareDocument(role, text, operationName);
  const made = { document, operationName, id: count++ };
  ofRole.set(key, made, key.length + DOCUMENT_WEIGHT);
  return made;
}

/** Text twice a character, a parameter some 200 bytes, 1000 for the rest. */
function weightOf({ statements: own, calls, joins, template }: ReadyPlan, key: string): number {
  const statements = [
    ...own,
    ...calls.flatMap((call) => call.statements),
    ...joins.flatMap(({ statement }) => statement ?? []),
  ];
  const texts = [
    key,
    ...calls.map(({ call }) => (call.kind === 'remote' ? call.query : '')),
    ...joins.map(({ join }) => (join.kind === 'remote' ? join.selection : '')),
    ...statements.flatMap(({ text, forMany, answer, steps }) => [
      text,
      forMany?.once.text ?? '',
      answer?.text ?? '',
      ...steps.map((s) => s.text),
    ]),
    ...template.map((part) => (part.kind === 'text' ? part.text : '')),
  ];
  const leaves = statements
    .flatMap((statement) => [statement, ...statement.steps])
    .flatMap(({ parameters }) => parameters.map((leaf) => sizeOf(leaf)));
  return 1000 + 2 * total(texts.map(({ length }) => length)) + 200 * total(leaves);
}

function sizeOf(leaf: Leaf): number {
  return leaf.kind === 'list' ? 1 + total(leaf.items.map(sizeOf)) : 1;
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}

/** What of the model running depends on, and what a statement may say it is of. */
type Surroundings = Pick<ReadyStatement, 'timeLimitMs' | 'limitMs' | 'isByAdministrator'> &
  Pick<Model, 'sources'> & { readonly asked: Pick<QueryTag, 'operation'> & Pick<PlannedRequest, 'text'> };

/** The default limit is for statements of roles without a limit of their own. */
function limitsOf({
  timeLimitMs,
  defaultTimeLimitMs,
}: RequestPolicy): Pick<ReadyStatement, 'timeLimitMs' | 'limitMs'> {
  return { timeLimitMs, limitMs: timeLimitMs === null ? defaultTimeLimitMs : null };
}

/** A plan that was not made of a request's text, and is run once. */
export function readyOnce(
  compiled: CompiledPlan,
  { sources, session }: Pick<Model, 'sources'> & { readonly session: Session },
): ReadyPlan {
  const isByAdministrator = session.role === ADMIN_ROLE;
  return ready(compiled, {
    timeLimitMs: null,
    limitMs: null,
    isByAdministrator,
    sources,
    asked: { operation: null, text: '' },
  });
}

function ready(
  { operation, validations, calls, joins, statements, template }: CompiledPlan,
  around: Surroundings,
): ReadyPlan {
  const whole: readonly TemplatePart[] = [
    { kind: 'text', text: '{"data":' },
    ...template,
    { kind: 'text', text: '}' },
  ];
  const readyAll = (compiled: readonly CompiledStatement[]) =>
    compiled.map((statement) => readyStatement(statement, around));
  const asksNobody = statements.length + calls.length === 0;
  const isFixed = operation === 'query' && asksNobody && lengthOf(template) >= LEAST_FIXED;
  return {
    operation,
    operationName: around.asked.operation,
    validations,
    statements: readyAll(statements),
    calls: calls.map((call) => ({ ...call, statements: readyAll(call.statements) })),
    joins: joins.map(({ join, statement }) => {
      return { join, statement: statement && readyStatement(statement, around) };
    }),
    timeLimitMs: around.timeLimitMs,
    template: isFixed ? [] : whole,
    fixed: isFixed ? bytesOf(whole, []) : null,
  };
}

function lengthOf(template: readonly TemplatePart[]): number {
  return total(template.map((part) => (part.kind === 'text' ? part.text.length : 0)));
}

function readyStatement(statement: CompiledStatement, around: Surroundings): ReadyStatement {
  const { answer, forMany, steps, ...rest } = statement;
  const source = around.sources.get(statement.source);
  const tags = source?.queryTags;
  const tag = tags && {
    fields: statement.roots,
    operation: around.asked.operation,
    digest: digestOf(around.asked.text),
  };
  const tagOf = (text: string) => (tag ? tagged(text, tags, tag) : text);
  return {
    ...rest,
    preparation: preparationOf(tagOf(statement.text), statement.isRepeatable),
    forMany: forMany === null ? null : preparationOf(tagOf(forMany), statement.isRepeatable, true),
    timeLimitMs: around.timeLimitMs,
    isByAdministrator: around.isByAdministrator,
    limitMs: around.limitMs,
    isWatched: source?.hasTriggers ?? false,
    answer: answer && readyStatement({ ...statement, ...answer, answer: null }, around),
    steps: readySteps(steps, around, tagOf),
  };
}

function readySteps(
  steps: readonly CompiledStep[],
  { isByAdministrator }: Surroundings,
  tagOf: (text: string) => string,
): readonly ReadyStep[] {
  const known = new Map<string, Preparation>();
  return steps.map((step) => {
    const preparation = known.get(step.text) ?? preparationOf(tagOf(step.text));
    known.set(step.text, preparation);
    return { ...step, isByAdministrator, preparation };
  });
}

/** Named by its text, so that equal statements of different plans are prepared once and different ones never meet. */
function preparationOf(text: string, isRead = false, hasRows = false): Preparation {
  const once = { name: '', text, isRead, hasRows };
  return { named: { ...once, name: digestOf(text) }, once, wasUsed: false };
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 32);
}
