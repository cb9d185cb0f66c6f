/** The report of `pergola compat`: what it consists of, and the exit code that follows from it. Pure.
 *  Not here: how each part is found (judge.ts, beside-engine.ts, schemas.ts, replay.ts), its text (print.ts). */

/** A finding about an object, a role or an operation. `unknown`: it could not be compared. `skipped`: it was left out on purpose. */
export type Verdict = 'same' | 'differs' | 'no effect' | 'accepted' | 'unknown' | 'skipped';

export type Finding = {
  readonly verdict: 'differs' | 'no effect';
  /** The file and path, or the path in the document; empty for a finding about the whole object. */
  readonly position: string;
  readonly message: string;
};

/** An object of the metadata by its key: `table/default/public/author`. What belongs to no object has the name of its file or key. */
export type ObjectReport = {
  readonly object: string;
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
};

export type RoleReport = {
  readonly role: string;
  /** `same` also where all changes are safe: no request of a client notices what a schema has besides. */
  readonly verdict: Verdict;
  /** The reason why the schemas could not be compared. */
  readonly reason?: string;
  readonly changes: readonly {
    readonly severity: string;
    readonly type: string;
    readonly description: string;
  }[];
};

export type OperationReport = {
  readonly name: string;
  readonly role: string;
  readonly verdict: Verdict;
  /** The reason why the operation was skipped, or could not be compared. */
  readonly reason?: string;
  readonly differences: readonly string[];
};

export type CompatReport = {
  readonly metadata: readonly ObjectReport[];
  readonly options: readonly { readonly option: string; readonly what: string; readonly remedy: string }[];
  readonly schemas: readonly RoleReport[];
  readonly operations: readonly OperationReport[];
};

/** The exit codes: nothing differs, something differs or has no effect, something could not be compared. */
export const EXIT = { same: 0, differs: 1, unknown: 2 } as const;

export function exitCodeOf({ metadata, options, schemas, operations }: CompatReport): number {
  const verdicts = [...metadata, ...schemas, ...operations].map(({ verdict }) => verdict);
  if (options.length > 0 || verdicts.some((one) => one === 'differs' || one === 'no effect')) {
    return EXIT.differs;
  }
  return verdicts.includes('unknown') ? EXIT.unknown : EXIT.same;
}

/** Returns the findings of each object as one report for each, in the order of the objects. */
export function objectReports(
  objects: Iterable<string>,
  findings: readonly (Finding & { readonly object: string })[],
  accepted: ReadonlySet<string>,
): readonly ObjectReport[] {
  const found = Map.groupBy(findings, ({ object }) => object);
  return [...new Set([...objects, ...found.keys()])].map((object) => {
    const own = (found.get(object) ?? []).map(({ object: _, ...finding }) => finding);
    return { object, verdict: verdictOf(own, accepted.has(object)), findings: own };
  });
}

function verdictOf(findings: readonly Finding[], isAccepted: boolean): Verdict {
  if (findings.length === 0) return 'same';
  if (isAccepted) return 'accepted';
  return findings.some(({ verdict }) => verdict === 'differs') ? 'differs' : 'no effect';
}
