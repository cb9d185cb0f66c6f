/** Results that are computed once for each immutable value and found again by the identity of that value.
 *  The invariant: nobody changes such a value, and a value with other content is another object. Then a result stays right as long as it
 *  depends on nothing but the value. It holds for
 *  - documents and definitions: an edit shares what it does not change (objects/normal-form.ts), and the engine returns the document of
 *    the last read or write (engine/cached-engine.ts);
 *  - the spec of a resource: watches keep the object while `generation` is the same (kubernetes/reflector.ts);
 *  - the list of an Engine's resources: it is built anew when one of them changes (kubernetes/cluster.ts);
 *  - rows of KINDS: they are constants.
 *  decide/incremental-scope.ts compares by identity under the same invariant. A result is released with its value.
 *  Not here: what is computed. */

export class IdentityCache<K extends object, V> {
  readonly #results = new WeakMap<K, V>();

  /** Returns the result for the value, computing it the first time. */
  get(value: K, compute: () => V): V {
    const known = this.#results.get(value);
    if (known !== undefined) return known;
    const result = compute();
    this.#results.set(value, result);
    return result;
  }

  /** Returns the result for the value; undefined when there is none yet. */
  peek(value: K): V | undefined {
    return this.#results.get(value);
  }

  /** Stores a result that was computed in another way. */
  set(value: K, result: V): void {
    this.#results.set(value, result);
  }
}
