/** The answer of `explain_access`, as far as its text needs it. In: JSON. Out: ExplainedAccess. Raises an error for anything else.
 *  Reference: docs/reference/behaviour/permissions.md, "Explaining access". */
import { isRecord } from '../../engine/json/value.ts';

export type ExplainedClause = {
  readonly path: string;
  readonly clause: Readonly<Record<string, unknown>>;
  readonly holds: boolean | null | 'undecided';
  readonly is_decisive?: true;
  readonly value?: string | null;
  readonly variables?: readonly { readonly name: string; readonly value: string | null }[];
  readonly undecided_columns?: readonly string[];
  readonly has_related_row?: boolean;
  readonly error?: string;
  readonly clauses?: readonly ExplainedClause[];
};

export type ExplainedAccess = {
  readonly verdict: 'visible' | 'allowed' | 'hidden' | 'refused' | 'no_row' | 'undecided';
  readonly reasons: readonly { readonly message: string }[];
  readonly permissions: readonly {
    readonly role: string;
    readonly operation: string;
    readonly filter?: ExplainedClause;
    readonly check?: ExplainedClause;
  }[];
  readonly columns?: readonly {
    readonly column: string;
    readonly verdict: 'visible' | 'masked' | 'not_permitted';
    readonly roles: readonly string[];
  }[];
  readonly presets?: readonly {
    readonly column: string;
    readonly variable?: string;
    readonly value?: unknown;
  }[];
  readonly notes?: readonly string[];
};

export function readExplained(answer: unknown): ExplainedAccess {
  const isAnswer =
    isRecord(answer) &&
    typeof answer['verdict'] === 'string' &&
    Array.isArray(answer['reasons']) &&
    Array.isArray(answer['permissions']);
  if (!isAnswer)
    throw new Error('the engine sent no answer of explain_access; is --engine the URL of an engine?');
  return answer as unknown as ExplainedAccess;
}
