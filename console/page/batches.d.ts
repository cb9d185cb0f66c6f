/** The types of batches.js for its test. */
type BatchObserver = {
  readonly next: (result: object) => void;
  readonly error: (errors: readonly object[]) => void;
  readonly complete: () => void;
};
type BatchSource = { readonly subscribe: (observer: BatchObserver) => unknown };
export function withEarlierBatches(observable: BatchSource, onCount: (count: number) => void): BatchSource;
export function withLastResult(observable: BatchSource): BatchSource;
