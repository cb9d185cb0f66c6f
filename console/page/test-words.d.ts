/** The types of test-words.js, for its test. */
type Test = { readonly resource: string; readonly reason: string };
type Covered = {
  readonly role: string;
  readonly source: string;
  readonly table: { readonly schema: string; readonly name: string };
  readonly operation: string;
  readonly tests: readonly string[];
};

export declare function testsOfCell(
  answer: { readonly tests: readonly Test[]; readonly covered: readonly Covered[] },
  table: Pick<Covered, 'source' | 'table'>,
  operation: string,
  cell: { readonly grants: readonly { readonly role: string }[] },
): readonly Test[];
export declare function resultsInWords(tests: readonly Test[]): string;
export declare function isFailed(test: Test): boolean;
