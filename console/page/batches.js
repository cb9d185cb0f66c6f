/** What a subscription has sent as one result: GraphiQL replaces the result before by each that arrives, and by the error that ends it. Pure. */

/** The most batches of a stream that are shown. */
export const MOST_BATCHES = 20;

/** Returns an observable whose results are lists of the latest batches of a stream, newest first. `onCount` receives the number of all of them. */
export function withEarlierBatches(observable, onCount) {
  let batches = [];
  let count = 0;
  return withLastResult(observable, (batch) => {
    batches = [batch, ...batches].slice(0, MOST_BATCHES);
    count += 1;
    onCount(count);
    return batches;
  });
}

/** Returns an observable that keeps what has arrived when an error ends it: the last result is then a list that begins with the errors. `shownOf` returns what
 *  is shown of a result. */
export function withLastResult(observable, shownOf = (result) => result) {
  return {
    subscribe: (observer) => {
      let last = null;
      // GraphiQL merges the elements of a list, and prints what this returns.
      const show = (shown) => observer.next(Array.isArray(shown) ? { toJSON: () => shown } : shown);
      const next = (result) => {
        last = shownOf(result);
        show(last);
      };
      const error = (errors) => {
        if (last === null) return observer.error(errors);
        show([{ errors }].concat(last));
        observer.complete();
      };
      return observable.subscribe({ ...observer, next, error });
    },
  };
}
