/** The batches of a stream as one result: GraphiQL replaces the result before by each that arrives. Pure. */

/** The most batches that are shown. */
export const MOST_BATCHES = 20;

/** Returns an observable whose results are lists of the latest batches, newest first. `onCount` receives the number of all of them. */
export function withEarlierBatches(observable, onCount) {
  return {
    subscribe: (observer) => {
      let batches = [];
      let count = 0;
      const next = (batch) => {
        batches = [batch, ...batches].slice(0, MOST_BATCHES);
        count += 1;
        onCount(count);
        const shown = batches;
        // GraphiQL merges the elements of a list, and prints what this returns.
        observer.next({ toJSON: () => shown });
      };
      return observable.subscribe({ ...observer, next });
    },
  };
}
