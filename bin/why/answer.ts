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

export type RowVerdict = 'visible' | 'allowed' | 'hidden' | 'refused' | 'no_row' | 'undecided';

/** The answer about one row. */
export type ExplainedAccess = ExplainedRow & {
  readonly conflict?: {
    readonly constraint: string;
    readonly exists: boolean | 'undecided';
    readonly key?: ExplainedKey;
  };
} & ExplainedRemarks;

/** The answer about the rows that satisfy a condition. */
export type ExplainedRows = {
  readonly verdicts: Readonly<Partial<Record<RowVerdict, number>>>;
  readonly rows: readonly (ExplainedRow & { readonly key: ExplainedKey })[];
} & ExplainedRemarks;

export type ExplainedKey = Readonly<Record<string, string | null>>;

type ExplainedRow = {
  readonly verdict: RowVerdict;
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
};

type ExplainedRemarks = {
  readonly fields?: readonly {
    readonly field: string;
    readonly type: string;
    readonly is_present: boolean;
  }[];
  readonly presets?: readonly {
    readonly column: string;
    readonly variable?: string;
    readonly value?: unknown;
  }[];
  readonly notes?: readonly string[];
};

/** Returns the answer. Raises an error for anything else. */
export function readExplained(answer: unknown): ExplainedAccess | ExplainedRows {
  const isOfOne =
    isRecord(answer) &&
    typeof answer['verdict'] === 'string' &&
    Array.isArray(answer['reasons']) &&
    Array.isArray(answer['permissions']);
  const isOfSeveral = isRecord(answer) && isRecord(answer['verdicts']) && Array.isArray(answer['rows']);
  if (!isOfOne && !isOfSeveral)
    throw new Error('the engine sent no answer of explain_access; is --engine the URL of an engine?');
  return answer as unknown as ExplainedAccess | ExplainedRows;
}

/** Returns the verdicts of an answer. */
export function verdictsOf(answer: ExplainedAccess | ExplainedRows): readonly RowVerdict[] {
  return 'rows' in answer ? answer.rows.map(({ verdict }) => verdict) : [answer.verdict];
}
