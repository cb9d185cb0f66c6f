/** The batches of a stream as one result: GraphiQL replaces the result before by each that arrives. Pure. */

/** The most batches that are shown. */
export const MOST_BATCHES = 20;

/** Returns an observable whose results are lists of the latest batches, newest first. An error that ends it comes before them. `onCount` receives
 *  the number of all batches. */
export function withEarlierBatches(observable, onCount) {
  return {
    subscribe: (observer) => {
      let batches = [];
      let count = 0;
      // GraphiQL merges the elements of a list, and prints what this returns.
      const show = (shown) => observer.next({ toJSON: () => shown });
      const next = (batch) => {
        batches = [batch, ...batches].slice(0, MOST_BATCHES);
        count += 1;
        onCount(count);
        show(batches);
      };
      const error = (errors) => {
        if (count === 0) return observer.error(errors);
        show([{ errors }, ...batches]);
        observer.complete();
      };
      return observable.subscribe({ ...observer, next, error });
    },
  };
}
