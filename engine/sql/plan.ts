/** Plan → the statements that answer it and the template their results are spliced into.
 *  All query roots of one source are one statement with a column each, as far as a result has room for them; a mutation root is a statement of its own, or one
 *  each update of an `update-many`. Not here: running them (execute/), splicing (execute/splice.ts). */
import { placesInMutation, placesInOutput, placesInQuery } from '../plan/join-places.ts';
import type { MutationOutput, MutationRoot } from '../plan/mutation-types.ts';
import type { QueryRoot } from '../plan/query-types.ts';
import type { JoinPlaces, RemoteJoin } from '../plan/remote-types.ts';
import type { Call, Plan, Root, Validation } from '../plan/types.ts';
import { aggregateQuery } from './aggregate.ts';
import { connectionQuery } from './connection.ts';
import { comma, compile, compileForMany, type Fragment, join, type Statement, sql } from './fragment.ts';
import { groupsQuery } from './group-by.ts';
import { type MutationAction, type MutationQuery, mutationQuery } from './mutation.ts';
import type { StepQuery } from './nested-write.ts';
import { Aliases } from './scope.ts';
import { streamQuery } from './stream.ts';
import { rowPieces, rowQuery, rowsQuery } from './table.ts';

export type CompiledStatement = Statement & {
  /** What nested writes run before it; it takes what they have written. */
  readonly steps: readonly CompiledStep[];
  readonly source: string;
  /** Response names of the roots it answers, in column order. */
  readonly roots: readonly string[];
  /** It only reads: it may be run again when a connection is lost. */
  readonly isRepeatable: boolean;
  /** Of a subscription: as it is asked for many at once, who differ only in values (`compileForMany`). */
  readonly forMany: string | null;
  /** What answers instead, when the first column holds the written rows. */
  readonly answer: Statement | null;
  /** Where its failures are reported: an insert's at its objects, any other at the request as a whole. */
  readonly errorPath: ErrorPath;
};

/** A statement with the columns of a StepQuery; its paths are those of the request. */
export type CompiledStep = Statement &
  Pick<StepQuery, 'answered' | 'unlessInserted'> & { readonly errorPath: ErrorPath };

type ErrorPath = readonly (string | number)[];

/** Part of the response's `data`: text, a column of a statement's only row (null prints `null`), or a field a call answers. */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'column';
      readonly statement: number;
      readonly column: number;
      /** Where keys stand in it for what is found elsewhere. */
      readonly joined?: Joined;
    }
  /** A field a call answers. */
  | {
      readonly kind: 'called';
      readonly call: number;
      readonly field: number;
      readonly joined?: Joined;
    };

/** `path`: of the part in the response. */
type Joined = { readonly places: JoinPlaces; readonly path: readonly string[] };

export type CompiledPlan = {
  readonly operation: Plan['operation'];
  /** Asked before the first statement. */
  readonly validations: readonly Validation[];
  readonly statements: readonly CompiledStatement[];
  readonly calls: readonly CompiledCall[];
  readonly joins: readonly CompiledJoin[];
  /** Prints `{"a":…,"b":…}`. */
  readonly template: readonly TemplatePart[];
};

export type CompiledCall = {
  readonly call: Call;
  /** Of a mutation: it comes after that many statements. */
  readonly after: number;
  /** What the rows of its joins are read with once it has been answered, and where each join is in them. */
  readonly statements: readonly CompiledStatement[];
  readonly joins: readonly { readonly statement: number; readonly column: number }[];
};

/** A join, and the statement its rows are read with: null where it asks a remote schema. */
export type CompiledJoin = { readonly join: RemoteJoin; readonly statement: CompiledStatement | null };

export function renderPlan(plan: Plan): CompiledPlan {
  const drafts: Draft[] = [];
  const turns: number[] = [];
  const answers = (plan.calls ?? []).map((call) => {
    if (call.kind === 'remote') return call.fields.map(({ places }) => places);
    return [call.kind === 'entities' ? null : call.output && placesInOutput(call.output)];
  });
  const template = placeAll(plan.roots, ['selectionSet'], { drafts, turns, answers });
  return {
    operation: plan.operation,
    validations: plan.validations ?? [],
    calls: (plan.calls ?? []).map((call, i) => compileCall(call, turns[i]!)),
    joins: (plan.joins ?? []).map(compileJoin),
    statements: drafts.map((draft) => finish(draft, plan.operation)),
    template: mergeText(template),
  };
}

/** The statement of one root by itself, for explain. */
export function renderRoot(root: QueryRoot): Statement {
  return compile(queryOf(root, new Aliases()));
}

type Draft =
  | {
      readonly kind: 'queries';
      readonly source: string;
      readonly aliases: Aliases;
      readonly roots: { readonly alias: string; readonly query: Fragment; readonly isVolatile: boolean }[];
    }
  | {
      readonly kind: 'mutation';
      readonly source: string;
      readonly alias: string;
      readonly mutation: MutationQuery;
      readonly errorPath: ErrorPath;
    };

/** What has been placed so far; by call, how many statements come before it, and where keys stand in its fields. */
type Placed = {
  readonly drafts: Draft[];
  readonly turns: number[];
  readonly answers: readonly (readonly (JoinPlaces | null)[])[];
};

/** `path` is where the roots stand in the request. */
function placeAll(roots: readonly Root[], path: ErrorPath, placed: Placed): readonly TemplatePart[] {
  const members = roots.flatMap((root, i) => [
    text(`${i === 0 ? '' : ','}${JSON.stringify(root.alias)}:`),
    ...place(root, [...path, root.alias], placed),
  ]);
  return [text('{'), ...members, text('}')];
}

/** Adds what `root` needs to the drafts; the parts of the response that stand for it. */
function place(root: Root, path: ErrorPath, placed: Placed): readonly TemplatePart[] {
  const { drafts } = placed;
  switch (root.kind) {
    case 'namespace':
      return placeAll(root.roots, [...path, 'selectionSet'], placed);
    case 'local':
      return [text(root.json)];
    case 'mutation':
      return placeMutation(root.mutation, (mutation, action) => {
        const { source, alias } = root;
        drafts.push({
          kind: 'mutation',
          source,
          alias,
          mutation,
          errorPath: errorPathOf(action, root.mutation.output, path),
        });
        const places = placesInMutation(root.mutation.output);
        return { kind: 'column', statement: drafts.length - 1, column: 0, ...joinedAt(places, path) };
      });
    case 'database': {
      const places = placesInQuery(root.query);
      return [{ kind: 'column', ...addQuery(root, drafts), ...joinedAt(places, path) }];
    }
    case 'called': {
      const { call, field } = root;
      placed.turns[call] ??= drafts.length;
      return [{ kind: 'called', call, field, ...joinedAt(placed.answers[call]![field]!, path) }];
    }
    default:
      return root satisfies never;
  }
}

/** In the response there are no selection sets. */
function joinedAt(places: JoinPlaces | null, path: ErrorPath): { readonly joined?: Joined } {
  return places ? { joined: { places, path: path.filter((_, i) => i % 2 === 1).map(String) } } : {};
}

type Query = {
  readonly alias: string;
  readonly source: string;
  readonly query: QueryRoot;
  readonly isVolatile?: boolean;
};

/** Adds a column to the statement of its source. */
function addQuery({ alias, source, query, isVolatile = false }: Query, drafts: Draft[]) {
  const { statement, draft } = queriesOf(source, drafts);
  const column = draft.roots.push({ alias, query: queryOf(query, draft.aliases), isVolatile }) - 1;
  return { statement, column };
}

function compileCall(call: Call, after: number): CompiledCall {
  if (call.kind === 'remote') return { call, after, statements: [], joins: [] };
  const drafts: Draft[] = [];
  const joins = call.joins.map(({ source, query }) => addQuery({ alias: 'keys', source, query }, drafts));
  return { call, after, statements: drafts.map((draft) => finish(draft)), joins };
}

function compileJoin(join: RemoteJoin): CompiledJoin {
  if (join.kind === 'remote') return { join, statement: null };
  const drafts: Draft[] = [];
  addQuery({ alias: join.member, source: join.source, query: join.query }, drafts);
  return { join, statement: finish(drafts[0]!) };
}

function placeMutation(
  { action, output }: MutationRoot,
  add: (query: MutationQuery, action: MutationAction) => TemplatePart,
): readonly TemplatePart[] {
  if (action.kind !== 'update-many') return [add(mutationQuery(action, output), action)];
  const answers = action.updates.map((update) =>
    update.kind === 'nothing' ? text(update.json) : add(mutationQuery(update, output), update),
  );
  return [text('['), ...answers.flatMap((part, i) => (i === 0 ? [part] : [text(','), part])), text(']')];
}

/** Roots of one statement. A result of Postgres has at most 1,664 columns. */
const MOST_ROOTS = 1600;

type Queries = Extract<Draft, { kind: 'queries' }>;

function queriesOf(source: string, drafts: Draft[]): { readonly statement: number; readonly draft: Queries } {
  for (const [statement, draft] of drafts.entries()) {
    const isOpen = draft.kind === 'queries' && draft.roots.length < MOST_ROOTS;
    if (isOpen && draft.source === source) return { statement, draft };
  }
  const draft: Queries = { kind: 'queries', source, aliases: new Aliases(), roots: [] };
  return { statement: drafts.push(draft) - 1, draft };
}

function queryOf(root: QueryRoot, aliases: Aliases): Fragment {
  if (root.kind === 'groups') return groupsQuery(root.groups, aliases);
  if (root.kind === 'aggregate') return aggregateQuery(root, aliases, rowPieces);
  if (root.kind === 'connection') return connectionQuery(root, aliases, rowPieces);
  if (root.kind === 'stream') return streamQuery(root.select, aliases);
  return root.kind === 'row' ? rowQuery(root.select, aliases) : rowsQuery(root.select, aliases);
}

function finish(draft: Draft, operation?: Plan['operation']): CompiledStatement {
  if (draft.kind === 'mutation') {
    const { steps, write, answer } = draft.mutation;
    return {
      ...compile(write),
      steps: steps.map((step) => finishStep(step, draft.errorPath)),
      source: draft.source,
      roots: [draft.alias],
      isRepeatable: false,
      forMany: null,
      answer: answer && compile(answer),
      errorPath: draft.errorPath,
    };
  }
  const { roots, source } = draft;
  // One root is the statement; several are scalar subqueries beside each other.
  const columns = roots.map((root) => sql`(${root.query})`);
  const query = roots.length === 1 ? roots[0]!.query : sql`select ${join(columns, comma)}`;
  const statement = compile(query);
  return {
    ...statement,
    forMany: operation === 'subscription' && statement.parameters.length > 0 ? compileForMany(query) : null,
    steps: [],
    source,
    roots: roots.map((root) => root.alias),
    isRepeatable: !roots.some((root) => root.isVolatile),
    answer: null,
    errorPath: [],
  };
}

function finishStep({ write, answered, unlessInserted, path }: StepQuery, root: ErrorPath): CompiledStep {
  return {
    ...compile(write),
    answered,
    unlessInserted: unlessInserted && { ...unlessInserted, path: [...root, ...unlessInserted.path] },
    errorPath: [...root, ...path],
  };
}

function errorPathOf(action: MutationAction, output: MutationOutput, path: ErrorPath): ErrorPath {
  if (action.kind === 'nested-update') return [...path, 'args'];
  if (action.kind !== 'insert' && action.kind !== 'nested-insert') return [];
  return [...path, 'args', output.kind === 'row' ? 'object' : 'objects'];
}

const text = (value: string): TemplatePart => ({ kind: 'text', text: value });

function mergeText(parts: readonly TemplatePart[]): readonly TemplatePart[] {
  const merged: TemplatePart[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (part.kind === 'text' && last?.kind === 'text')
      merged[merged.length - 1] = text(last.text + part.text);
    else merged.push(part);
  }
  return merged;
}
