/** Plan → the statements that answer it and the template their results are spliced into.
 *  All query roots of one source are one statement with a column each; a mutation root is a statement of its own.
 *  Not here: running them (execute/), splicing (execute/splice.ts). */
import type { Plan, QueryRoot, Root } from '../plan/types.ts';
import { comma, compile, type Fragment, join, type Statement, sql } from './fragment.ts';
import { mutationQuery } from './mutation.ts';
import { Aliases } from './scope.ts';
import { rowQuery, rowsQuery } from './table.ts';

export type CompiledStatement = Statement & {
  readonly source: string;
  /** Response names of the roots it answers, in column order. */
  readonly roots: readonly string[];
  /** The last column says whether a permission's check was passed. */
  readonly isChecked: boolean;
};

/** Part of the response's `data`: text, or a column of a statement's only row (null prints `null`). */
export type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'column'; readonly statement: number; readonly column: number };

export type CompiledPlan = {
  readonly operation: Plan['operation'];
  readonly statements: readonly CompiledStatement[];
  /** Prints `{"a":…,"b":…}`. */
  readonly template: readonly TemplatePart[];
};

export function renderPlan(plan: Plan): CompiledPlan {
  const drafts: Draft[] = [];
  const members = plan.roots.map((root) => ({ alias: root.alias, value: place(root, drafts) }));
  return {
    operation: plan.operation,
    statements: drafts.map(finish),
    template: mergeText([
      { kind: 'text', text: '{' },
      ...members.flatMap(({ alias, value }, i): TemplatePart[] => [
        { kind: 'text', text: `${i === 0 ? '' : ','}${JSON.stringify(alias)}:` },
        value,
      ]),
      { kind: 'text', text: '}' },
    ]),
  };
}

type Draft =
  | {
      readonly kind: 'queries';
      readonly source: string;
      readonly aliases: Aliases;
      readonly roots: { alias: string; query: Fragment }[];
    }
  | {
      readonly kind: 'mutation';
      readonly source: string;
      readonly alias: string;
      readonly query: Fragment;
      readonly isChecked: boolean;
    };

function place(root: Root, drafts: Draft[]): TemplatePart {
  switch (root.kind) {
    case 'local':
      return { kind: 'text', text: root.json };
    case 'mutation': {
      const statement =
        drafts.push({
          kind: 'mutation',
          source: root.source,
          alias: root.alias,
          ...mutationQuery(root.mutation),
        }) - 1;
      return { kind: 'column', statement, column: 0 };
    }
    case 'database': {
      let statement = drafts.findIndex((draft) => draft.kind === 'queries' && draft.source === root.source);
      if (statement === -1) {
        statement =
          drafts.push({ kind: 'queries', source: root.source, aliases: new Aliases(), roots: [] }) - 1;
      }
      const draft = drafts[statement]!;
      if (draft.kind !== 'queries') throw new Error('a query root was placed in a mutation');
      const column = draft.roots.push({ alias: root.alias, query: queryOf(root.query, draft.aliases) }) - 1;
      return { kind: 'column', statement, column };
    }
    default:
      return root satisfies never;
  }
}

/** The `select` of one root by itself, for explain. */
export function queryOf(root: QueryRoot, aliases: Aliases): Fragment {
  return root.kind === 'row' ? rowQuery(root.select, aliases) : rowsQuery(root.select, aliases);
}

function finish(draft: Draft): CompiledStatement {
  if (draft.kind === 'mutation') {
    return {
      ...compile(draft.query),
      source: draft.source,
      roots: [draft.alias],
      isChecked: draft.isChecked,
    };
  }
  const { roots, source } = draft;
  // One root is the statement; several are scalar subqueries beside each other.
  const query =
    roots.length === 1
      ? roots[0]!.query
      : sql`select ${join(
          roots.map((root) => sql`(${root.query})`),
          comma,
        )}`;
  return { ...compile(query), source, roots: roots.map((root) => root.alias), isChecked: false };
}

function mergeText(parts: readonly TemplatePart[]): TemplatePart[] {
  const merged: TemplatePart[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (part.kind === 'text' && last?.kind === 'text')
      merged[merged.length - 1] = { kind: 'text', text: last.text + part.text };
    else merged.push(part);
  }
  return merged;
}
