/** POST /v1/graphql/explain: the statement and Postgres's plan for each root field of a query, as the given session would
 *  run it. Every root is explained by itself, although a request runs all of a source as one statement.
 *  Nothing is executed: EXPLAIN with the same parameters. Spec: "Explain API". */

import { engineErrorOf } from '../database/pg-errors.ts';
import { fail } from '../errors/engine-error.ts';
import { printQualified } from '../metadata/schema/common.ts';
import { conditionsAmong } from '../plan/conditions.ts';
import { prepareDocument } from '../plan/document.ts';
import { planRequest } from '../plan/plan.ts';
import type { Root } from '../plan/types.ts';
import { coerceVariables } from '../plan/variables.ts';
import { clusterOf, type DistributionLookup, printRows } from '../resolve/distributions.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import { roleSchema } from '../schema/role-schemas.ts';
import type { Statement } from '../sql/fragment.ts';
import { renderRoot } from '../sql/plan.ts';
import type { Value } from '../wire/statement.ts';
import { type AnswerContext, buildingSchema } from './answer.ts';
import { type Binding, bind } from './bind.ts';
import { withFetched } from './fetched.ts';
import type { GraphqlRequest } from './plan-cache.ts';

export type ExplainedField = {
  readonly field: string;
  /** Null where no statement is run: introspection. */
  readonly sql: string | null;
  readonly plan: readonly string[] | null;
  /** The distributions of the tables that the statement reads, by their names, when the source is a Citus cluster. */
  readonly distributions?: Readonly<Record<string, string>>;
};

type ExplainedSubscription = Omit<ExplainedField, 'field'> & {
  /** The values of the statement as text: session variables and the cursor of a stream by name, and the others. No value has the name
   *  of a variable of the query. */
  readonly variables: {
    readonly session: Readonly<Record<string, Value>>;
    readonly query: Readonly<Record<string, never>>;
    readonly synthetic: readonly Value[];
    readonly cursor: Readonly<Record<string, Value>>;
  };
};

/** A query: a list in response order. A subscription: its only field. Raises `onlyQueriesExplained` for a mutation. */
export async function explain(
  request: GraphqlRequest,
  context: AnswerContext,
): Promise<readonly ExplainedField[] | ExplainedSubscription> {
  const { model, session, isRelay } = context;
  const building = buildingSchema(context);
  if (building) await building;
  const role = roleSchema(model, session.role, session.mayUseBackendOnly, isRelay);
  const { query, operationName = null } = request;
  const document = prepareDocument(role, query, operationName, conditionsAmong(request.variables));
  if (document.operation.operation === 'mutation') fail('onlyQueriesExplained', {});
  const variables = coerceVariables(document, request.variables ?? null);
  const { roots } = planRequest(document, variables).plan;
  const binding = { session, variables: variables.values };
  const each = roots.flatMap((root) => explainable(root));
  const [first] = each;
  if (document.operation.operation === 'subscription' && first && each.length === 1) {
    const { field: _, ...explained } = await explainRoot(first, binding, context);
    return { ...explained, variables: variablesOf(first.root, binding, context) };
  }
  return Promise.all(each.map((root) => explainRoot(root, binding, context)));
}

type Context = Pick<AnswerContext, 'model' | 'databases'>;

/** Returns the statement, and in a cluster the distributions of the tables that the renderer looks up for it. */
function rendered(
  { query, source }: Extract<Root, { kind: 'database' }>,
  { sources }: AnswerContext['model'],
): Statement & Pick<ExplainedField, 'distributions'> {
  const cluster = clusterOf(sources.get(source));
  if (!cluster) return renderRoot(query, null);
  const distributions: Record<string, string> = {};
  const recorded: DistributionLookup = (table) => {
    const distribution = cluster(table);
    if (distribution) distributions[printQualified(table)] = printRows(distribution) ?? 'a view';
    return distribution;
  };
  return { ...renderRoot(query, recorded), distributions };
}

type Explainable = { readonly field: string; readonly root: Root };

/** Returns the root fields. The name of a field in a namespace begins with it: `shop.author`. */
function explainable(root: Root, namespace = ''): readonly Explainable[] {
  const field = namespace + root.alias;
  if (root.kind !== 'namespace') return [{ field, root }];
  return root.roots.flatMap((inner) => explainable(inner, `${field}.`));
}

function variablesOf(root: Root, binding: Binding, { model }: Context): ExplainedSubscription['variables'] {
  const leaves = root.kind === 'database' ? rendered(root, model).parameters : [];
  const values = bind(leaves, binding);
  const cursor =
    root.kind === 'database' && root.query.kind === 'stream' ? root.query.select.orderBy[0] : undefined;
  const variables = { session: {}, query: {}, synthetic: [], cursor: {} } as {
    session: Record<string, Value>;
    query: Record<string, never>;
    synthetic: Value[];
    cursor: Record<string, Value>;
  };
  for (const [i, leaf] of leaves.entries()) {
    const value = values[i] ?? null;
    if (leaf.kind === 'session') variables.session[leaf.variable] = value;
    else if (leaf.kind === 'stream-cursor' && cursor && 'column' in cursor) {
      variables.cursor[cursor.column] = literalOf(value);
    } else variables.synthetic.push(literalOf(value));
  }
  return variables;
}

/** An array as Postgres writes it: `{1,2,"a b"}`. */
function literalOf(value: Value): string | null {
  if (!Array.isArray(value)) return value === null ? null : String(value);
  const items = value.map((item) => {
    if (Array.isArray(item)) return literalOf(item);
    if (item === null) return 'NULL';
    const text = String(item);
    return /^[\w.:-]+$/.test(text) && !/^null$/i.test(text) ? text : JSON.stringify(text);
  });
  return `{${items.join(',')}}`;
}

async function explainRoot(
  { field, root }: Explainable,
  binding: Binding,
  { model, databases }: Context,
): Promise<ExplainedField> {
  if (root.kind !== 'database') return { field, sql: null, plan: null };
  const { text, parameters, distributions } = rendered(root, model);
  const values = bind(parameters, await withFetched([{ parameters }], binding, databases));
  try {
    const { rows } = await databases.get(root.source).query(`explain (format text) ${text}`, values);
    const plan = rows.map((row) => String(row['QUERY PLAN']));
    return { field, sql: text, plan, ...(distributions ? { distributions } : {}) };
  } catch (error) {
    throw engineErrorOf(error, { text, isByAdministrator: binding.session.role === ADMIN_ROLE }, []);
  }
}
