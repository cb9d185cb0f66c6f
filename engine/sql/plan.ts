/** Plan → PreparedPlan: the steps that answer a request, and the template that their results are spliced into.
 *  A step is a statement, a webhook call, a request to a remote schema or a text about the schema. All query roots of one source are one statement with a
 *  column each, up to the limit of columns; a mutation root is a statement of its own, or one per update of an `update-many`.
 *  Not here: running steps (execute/), splicing (execute/splice.ts), names of prepared statements (execute/plan-cache.ts). */
import type { Reaction } from '../catalog/types.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { ActionCall, KeyedRows } from '../plan/action-types.ts';
import { pathsInMutation, pathsInOutput, pathsInQuery } from '../plan/join-paths.ts';
import type { MutationOutput } from '../plan/mutation-types.ts';
import type { QueryRoot } from '../plan/query-types.ts';
import type { JoinPaths, RemoteCall, RemoteSchemaJoin, RowsJoin } from '../plan/remote-types.ts';
import type { SchemaText } from '../plan/schema-text.ts';
import type { Call, EntitiesCall, Plan, Root, Validation } from '../plan/types.ts';
import type { NamedStatement } from '../wire/statement.ts';
import { aggregateQuery } from './aggregate.ts';
import { connectionQuery } from './connection.ts';
import {
  besideEachOther,
  type Composed,
  type DistributionOf,
  distributed,
  withRows,
} from './distribution.ts';
import { compile, compileForMany, type Fragment, type Statement } from './fragment.ts';
import { groupsQuery } from './group-by.ts';
import { jsonList, jsonObject, mergeText, type TextPiece, text } from './json.ts';
import { type MutationAction, type MutationQuery, mutationQuery } from './mutation.ts';
import type { StepQuery } from './nested-write.ts';
import { Aliases } from './scope.ts';
import { streamQuery } from './stream.ts';
import { bareRowsQuery, rowPieces, rowQuery, rowsQuery } from './table.ts';

/** A plan that is ready to run, for every request of the same text and shape of variables. The plan cache holds it. */
export type PreparedPlan = {
  readonly operation: Plan['operation'];
  /** The time limit of the role for a whole request. */
  readonly timeLimitMs: number | null;
  /** The limit of the role for the bytes of the response. */
  readonly mostResponseBytes: number | null;
  /** Steps that need only constants, session variables and request variables. In a query they run at the same time. In a mutation
   *  they run in this order: validations first, then statements and calls as the request has them. */
  readonly steps: readonly Step[];
  /** The statements among the steps. */
  readonly statements: readonly PreparedStatement[];
  /** Steps that need keys out of an earlier result. JoinPaths say where in a result, by the index of the step. */
  readonly keyedSteps: readonly KeyedStep[];
  /** The whole response, `{"data":{"a":…,"b":…}}`. Its first and last part are `{"data":` and `}`. */
  readonly template: readonly TemplatePart[];
};

export type Step =
  | { readonly kind: 'statement'; readonly statement: PreparedStatement }
  | { readonly kind: 'validation'; readonly validation: Validation }
  | { readonly kind: 'remote'; readonly call: RemoteCall }
  | { readonly kind: 'schema-text'; readonly text: SchemaText }
  | { readonly kind: 'action'; readonly call: ActionCall; readonly rows: KeyedRead }
  | { readonly kind: 'entities'; readonly call: EntitiesCall; readonly rows: KeyedRead };

export type KeyedStep =
  | { readonly kind: 'rows'; readonly join: RowsJoin; readonly rows: KeyedRead }
  | { readonly kind: 'remote'; readonly join: RemoteSchemaJoin };

/** Statements that read rows by keys, one per source, and the column of each list of rows in them. */
export type KeyedRead = {
  readonly statements: readonly PreparedStatement[];
  readonly columns: readonly {
    readonly statement: number;
    readonly column: number;
    /** The number of values in a key. */
    readonly width: number;
  }[];
};

export type PreparedStatement = Statement & {
  readonly preparation: Preparation;
  /** Nested writes that run before the statement, which takes values they have written. */
  readonly nestedWrites: readonly NestedWrite[];
  readonly source: string;
  /** Response names of the roots it answers, in column order. */
  readonly roots: readonly string[];
  /** True when it only reads: it may run again after a connection is lost. */
  readonly isRepeatable: boolean;
  /** For a subscription, the statement that answers many subscribers who differ only in values (`compileForMany`). */
  readonly forMany: Preparation | null;
  /** The statement whose row is the result, when the first column of this one holds the written rows. */
  readonly answer: PreparedStatement | null;
  /** The path its failures are reported at: the objects of an insert, otherwise the request. */
  readonly errorPath: ErrorPath;
  /** True when the session must be set before it runs, for code of the database that may read it. */
  readonly needsSession: boolean;
  /** True when the source is a Citus cluster. */
  readonly isOnCluster: boolean;
  /** True when a cluster must change its shards one by one for this statement by itself. */
  readonly isOneByOne: boolean;
} & StatementLimits;

/** The limits of a role for each of its statements. */
export type StatementLimits = {
  /** The time limit of the whole request. */
  readonly timeLimitMs: number | null;
  /** The time limit of the statement or its transaction, for requests without a limit of their own. */
  readonly limitMs: number | null;
  /** The limit for the bytes of its result, which is that of the response. */
  readonly mostResponseBytes: number | null;
  /** True when an administrator runs it, who may read every row. */
  readonly isByAdministrator: boolean;
};

/** One statement of nested writes. Its paths are those of the request. */
export type NestedWrite = Statement &
  Pick<StepQuery, 'answered' | 'unlessInserted' | 'writesOnce'> &
  Pick<StatementLimits, 'isByAdministrator'> & {
    readonly errorPath: ErrorPath;
    readonly preparation: Preparation;
  };

/** A statement's text with and without a name. Preparing it on the server is worth it only from its second use on. */
export type Preparation = {
  readonly named: NamedStatement;
  readonly once: NamedStatement;
  wasUsed: boolean;
};

type ErrorPath = readonly (string | number)[];

/** Part of a response: text, or a column of a step's result (null prints `null`). */
export type TemplatePart =
  | TextPiece
  | {
      readonly kind: 'column';
      readonly step: number;
      readonly column: number;
      /** The positions of keys in the column, and the path of the column in the response. */
      readonly joined?: { readonly paths: JoinPaths; readonly path: readonly string[] };
    };

/** The properties of model, role and request that a prepared plan contains. */
type PrepareOptions = {
  readonly limits: StatementLimits;
  readonly prepare: (text: string, about: PreparationOf) => Preparation;
  /** The reaction of a source to a write of a table, or of any table. */
  readonly reactionTo: (source: string, table: QualifiedName | null) => Reaction | null;
  /** The distributions of a source that is a cluster; null for any other. */
  readonly clusterOf: (source: string) => DistributionOf | null;
};

/** The statement that a text is prepared for. */
export type PreparationOf = {
  readonly source: string;
  readonly roots: readonly string[];
  readonly isRead: boolean;
  /** True when the statement may share a connection with others. */
  readonly mayShare: boolean;
  /** True when the statement has many rows in its result. */
  readonly hasRows?: boolean;
};

/** Options of a plan that is not run by a request: in tests and measurements. */
export const UNNAMED: PrepareOptions = {
  limits: { timeLimitMs: null, limitMs: null, mostResponseBytes: null, isByAdministrator: false },
  prepare: (text, { isRead, mayShare, hasRows = false }) => {
    const once = { name: '', text, isRead, mayShare, hasRows };
    return { named: once, once, wasUsed: false };
  },
  reactionTo: () => null,
  clusterOf: () => null,
};

export function preparePlan(plan: Plan, options: PrepareOptions = UNNAMED): PreparedPlan {
  const { operation, roots, calls = [], joins = [], validations = [] } = plan;
  const drafts: Draft[] = validations.map((validation) => ({ kind: 'validation', validation }));
  const response = placeAll(roots, ['selectionSet'], {
    operation,
    drafts,
    calls,
    steps: [],
    reactionTo: options.reactionTo,
    clusterOf: options.clusterOf,
  });
  const steps = drafts.map((draft) => finishStep(draft, operation, options));
  return {
    operation,
    timeLimitMs: options.limits.timeLimitMs,
    mostResponseBytes: options.limits.mostResponseBytes,
    steps,
    statements: statementsOf(steps),
    keyedSteps: joins.map((join): KeyedStep => {
      return join.kind === 'remote'
        ? { kind: 'remote', join }
        : { kind: 'rows', join, rows: keyedRead([join], [join.width], options) };
    }),
    template: [text('{"data":'), ...mergeText<TemplatePart>(response), text('}')],
  };
}

function statementsOf(steps: readonly Step[]): readonly PreparedStatement[] {
  return steps.flatMap((step) => (step.kind === 'statement' ? [step.statement] : []));
}

/** The statement of one root by itself, for explain. It returns the whole value of the root. */
export function renderRoot(root: QueryRoot, cluster: DistributionOf | null = null): Statement {
  const { query, gathered } = distributed(cluster, new Aliases(), (aliases) => queryOf(root, aliases));
  return compile(withRows(gathered, query));
}

type Draft =
  | Queries
  | {
      readonly kind: 'mutation';
      readonly source: string;
      readonly alias: string;
      readonly table: QualifiedName;
      readonly mutation: MutationQuery;
      readonly errorPath: ErrorPath;
    }
  | { readonly kind: 'validation'; readonly validation: Validation }
  | { readonly kind: 'schema-text'; readonly text: SchemaText }
  | { readonly kind: 'call'; readonly call: Call };

type Queries = {
  readonly kind: 'queries';
  readonly source: string;
  readonly aliases: Aliases;
  readonly cluster: DistributionOf | null;
  readonly roots: (Composed & { readonly alias: string; readonly isVolatile: boolean })[];
};

/** The operation, the steps drafted so far, and the step of each call that has one. */
type Placed = {
  readonly operation: Plan['operation'];
  readonly drafts: Draft[];
  readonly calls: readonly Call[];
  readonly steps: number[];
} & Pick<PrepareOptions, 'reactionTo' | 'clusterOf'>;

/** `path` is the position of the roots in the request. */
function placeAll(roots: readonly Root[], path: ErrorPath, placed: Placed): readonly TemplatePart[] {
  return jsonObject<TemplatePart>(
    roots.map((root) => ({ key: root.alias, value: place(root, [...path, root.alias], placed) })),
  );
}

/** Adds the steps of `root` to the drafts, and returns its parts of the response. */
function place(root: Root, path: ErrorPath, placed: Placed): readonly TemplatePart[] {
  const { drafts } = placed;
  switch (root.kind) {
    case 'namespace':
      return placeAll(root.roots, [...path, 'selectionSet'], placed);
    case 'local':
      return [text(root.json)];
    case 'schema-text':
      return [{ kind: 'column', step: drafts.push(root) - 1, column: 0 }];
    case 'mutation':
      return placeMutation(root, placed, (mutation, action) => {
        const { source, alias } = root;
        drafts.push({
          kind: 'mutation',
          source,
          alias,
          table: action.table,
          mutation,
          errorPath: errorPathOf(action, root.mutation.output, path),
        });
        const paths = pathsInMutation(root.mutation.output);
        return { kind: 'column', step: drafts.length - 1, column: 0, ...joinedAt(paths, path) };
      });
    case 'database': {
      const paths = pathsInQuery(root.query);
      if (root.query.kind !== 'rows' || paths || placed.operation !== 'query') {
        return [{ kind: 'column', ...addQuery(root, placed), ...joinedAt(paths, path) }];
      }
      const { select } = root.query;
      return [
        text('['),
        { kind: 'column', ...addColumn(root, placed, (a) => bareRowsQuery(select, a)) },
        text(']'),
      ];
    }
    case 'called': {
      const call = placed.calls[root.call]!;
      const step = placed.steps[root.call] ?? drafts.push({ kind: 'call', call }) - 1;
      placed.steps[root.call] = step;
      const paths = pathsInCall(call, root.field);
      return [{ kind: 'column', step, column: root.field, ...joinedAt(paths, path) }];
    }
    default:
      return root satisfies never;
  }
}

function pathsInCall(call: Call, field: number): JoinPaths | null {
  if (call.kind === 'remote') return call.fields[field]!.paths;
  return call.kind === 'entities' ? null : call.output && pathsInOutput(call.output);
}

/** `path` is that of the request, in which every field is within a selection set. */
function joinedAt(
  paths: JoinPaths | null,
  path: ErrorPath,
): Pick<Extract<TemplatePart, { kind: 'column' }>, 'joined'> {
  return paths ? { joined: { paths, path: path.filter((_, i) => i % 2 === 1).map(String) } } : {};
}

type Query = {
  readonly alias: string;
  readonly source: string;
  readonly query: QueryRoot;
  readonly isVolatile?: boolean;
};

type Drafted = Pick<Placed, 'drafts' | 'clusterOf'>;

/** Adds a query to the statement of its source. */
function addQuery(query: Query, drafted: Drafted) {
  return addColumn(query, drafted, (aliases) => queryOf(query.query, aliases));
}

/** Adds a column to the statement of its source. */
function addColumn(
  { alias, source, isVolatile = false }: Omit<Query, 'query'>,
  drafted: Drafted,
  build: (aliases: Aliases) => Fragment,
) {
  const { step, draft } = queriesOf(source, drafted);
  const composed = distributed(draft.cluster, draft.aliases, build);
  const column = draft.roots.push({ ...composed, alias, isVolatile }) - 1;
  return { step, column };
}

/** `widths` are the numbers of values in the keys of each join. */
function keyedRead(
  joins: readonly Pick<KeyedRows, 'source' | 'query'>[],
  widths: readonly number[],
  options: PrepareOptions,
): KeyedRead {
  const drafts: Draft[] = [];
  const columns = joins.map(({ source, query }, i) => {
    const { step, column } = addQuery({ alias: 'keys', source, query }, { ...options, drafts });
    return { statement: step, column, width: widths[i]! };
  });
  const steps = drafts.map((draft) => finishStep(draft, 'query', options));
  return { statements: statementsOf(steps), columns };
}

function placeMutation(
  { source, mutation: { action, output } }: Extract<Root, { kind: 'mutation' }>,
  { reactionTo, clusterOf }: Placed,
  add: (query: MutationQuery, action: MutationAction) => TemplatePart,
): readonly TemplatePart[] {
  const addOne = (one: MutationAction) => {
    const settings = reactionTo(source, one.table) === 'after';
    return add(mutationQuery(one, output, settings, clusterOf(source)), one);
  };
  if (action.kind !== 'update-many') return [addOne(action)];
  const answers = action.updates.map((update) =>
    update.kind === 'nothing' ? text(update.json) : addOne(update),
  );
  return jsonList<TemplatePart>(answers.map((part) => [part]));
}

/** Roots of one statement. A result of Postgres has at most 1,664 columns. */
const MOST_ROOTS = 1600;

function queriesOf(
  source: string,
  { drafts, clusterOf }: Drafted,
): { readonly step: number; readonly draft: Queries } {
  for (const [step, draft] of drafts.entries()) {
    const isOpen = draft.kind === 'queries' && draft.roots.length < MOST_ROOTS;
    if (isOpen && draft.source === source) return { step, draft };
  }
  const draft: Queries = {
    kind: 'queries',
    source,
    aliases: new Aliases(),
    cluster: clusterOf(source),
    roots: [],
  };
  return { step: drafts.push(draft) - 1, draft };
}

function queryOf(root: QueryRoot, aliases: Aliases): Fragment {
  if (root.kind === 'groups') return groupsQuery(root.groups, aliases);
  if (root.kind === 'aggregate') return aggregateQuery(root, aliases, rowPieces);
  if (root.kind === 'connection') return connectionQuery(root, aliases, rowPieces);
  if (root.kind === 'stream') return streamQuery(root, aliases);
  return root.kind === 'row' ? rowQuery(root.select, aliases) : rowsQuery(root.select, aliases);
}

function finishStep(draft: Draft, operation: Plan['operation'], options: PrepareOptions): Step {
  switch (draft.kind) {
    case 'queries':
      return { kind: 'statement', statement: finishQueries(draft, operation, options) };
    case 'mutation':
      return { kind: 'statement', statement: finishMutation(draft, options) };
    case 'validation':
      return draft;
    case 'schema-text':
      return { kind: draft.kind, text: draft.text };
    case 'call':
      return finishCall(draft.call, options);
    default:
      return draft satisfies never;
  }
}

function finishCall(call: Call, options: PrepareOptions): Step {
  if (call.kind === 'remote') return { kind: 'remote', call };
  const widths = call.joins.map(({ fields }) => fields.length);
  const rows = keyedRead(call.joins, widths, options);
  return call.kind === 'entities' ? { kind: 'entities', call, rows } : { kind: 'action', call, rows };
}

/** True unless the source is a cluster. While one of its workers does not answer, a statement may not end even when it is cancelled, so that
 *  those behind it on the connection would wait for a worker that they do not need. */
function mayShare(source: string, { clusterOf }: PrepareOptions): boolean {
  return clusterOf(source) === null;
}

function finishMutation(
  { source, alias, table, mutation, errorPath }: Extract<Draft, { kind: 'mutation' }>,
  options: PrepareOptions,
): PreparedStatement {
  const { steps, write, answer, isOneByOne = false } = mutation;
  const isSingle = steps.length === 0 && !answer;
  const about = { source, roots: [alias], isRead: false, mayShare: mayShare(source, options) };
  const preparations = new Map<string, Preparation>();
  const preparationOf = (text: string) => {
    const preparation = preparations.get(text) ?? options.prepare(text, about);
    preparations.set(text, preparation);
    return preparation;
  };
  const common = {
    source,
    roots: [alias],
    isRepeatable: false,
    forMany: null,
    errorPath,
    needsSession: options.reactionTo(source, isSingle ? table : null) === 'during',
    isOnCluster: options.clusterOf(source) !== null,
    isOneByOne,
    ...options.limits,
  };
  const statement = compile(write);
  const answering = answer && compile(answer);
  return {
    ...statement,
    ...common,
    preparation: options.prepare(statement.text, about),
    nestedWrites: steps.map((step) => {
      const { statement: nested, answered, writesOnce, unlessInserted, path } = step;
      return {
        ...nested,
        preparation: preparationOf(nested.text),
        answered,
        ...(writesOnce ? { writesOnce } : {}),
        unlessInserted: unlessInserted && { ...unlessInserted, path: [...errorPath, ...unlessInserted.path] },
        errorPath: [...errorPath, ...path],
        isByAdministrator: options.limits.isByAdministrator,
      };
    }),
    answer: answering && {
      ...answering,
      ...common,
      preparation: options.prepare(answering.text, about),
      nestedWrites: [],
      answer: null,
    },
  };
}

function finishQueries(
  { roots, source }: Queries,
  operation: Plan['operation'],
  options: PrepareOptions,
): PreparedStatement {
  const { limits, prepare, reactionTo } = options;
  // One root is the statement; several are scalar subqueries beside each other.
  const query = besideEachOther(roots);
  const statement = compile(query);
  const isRepeatable = !roots.some((root) => root.isVolatile);
  // A volatile function may have effects outside of Postgres, which a second run would repeat.
  const about = {
    source,
    roots: roots.map((root) => root.alias),
    isRead: isRepeatable,
    mayShare: isRepeatable && mayShare(source, options),
  };
  // A cluster joins no table of its own to rows of a request laterally.
  const isLocal = roots.every(({ form }) => form === 'plain' || form === 'local');
  const isShared = operation === 'subscription' && statement.parameters.length > 0 && isLocal;
  return {
    ...statement,
    preparation: prepare(statement.text, about),
    forMany: isShared ? prepare(compileForMany(query), { ...about, hasRows: true }) : null,
    nestedWrites: [],
    source,
    roots: about.roots,
    isRepeatable,
    answer: null,
    errorPath: [],
    needsSession: reactionTo(source, null) !== null,
    isOnCluster: options.clusterOf(source) !== null,
    isOneByOne: false,
    ...limits,
  };
}

function errorPathOf(action: MutationAction, output: MutationOutput, path: ErrorPath): ErrorPath {
  if (action.kind === 'nested-update') return [...path, 'args'];
  if (action.kind !== 'insert' && action.kind !== 'nested-insert') return [];
  return [...path, 'args', output.kind === 'row' ? 'object' : 'objects'];
}
