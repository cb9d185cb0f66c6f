/** Tests cancel-signal.ts: a RequestSignal calls its listeners as an AbortSignal does, checked by random sequences of calls on both. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CancelSignal, RequestSignal } from './cancel-signal.ts';

const GONE = new Error('gone');
const CALL = fc.record({
  kind: fc.constantFrom('add', 'remove', 'abort'),
  listener: fc.integer({ min: 0, max: 3 }),
});

/** Returns the listeners in the order in which they are called. A listener removes itself, as work that ends does. */
function calledListeners(
  signal: CancelSignal,
  abort: () => void,
  calls: readonly { kind: string; listener: number }[],
): readonly number[] {
  const called: number[] = [];
  const listeners = [0, 1, 2, 3].map((i) => {
    const listener = {
      handleEvent: () => {
        called.push(i);
        signal.removeEventListener('abort', listener);
      },
    };
    return listener;
  });
  for (const { kind, listener } of calls) {
    if (kind === 'abort') abort();
    else if (kind === 'add') signal.addEventListener('abort', listeners[listener]!);
    else signal.removeEventListener('abort', listeners[listener]!);
  }
  return called;
}

test('listeners are called as those of an AbortSignal', () => {
  fc.assert(
    fc.property(fc.array(CALL, { maxLength: 20 }), (calls) => {
      const own = new RequestSignal();
      const standard = new AbortController();
      const ofOwn = calledListeners(own, () => own.abort(GONE), calls);
      const ofStandard = calledListeners(standard.signal, () => standard.abort(GONE), calls);
      expect(ofOwn.toSorted()).toEqual(ofStandard.toSorted());
      expect([own.aborted, own.reason]).toEqual([standard.signal.aborted, standard.signal.reason]);
    }),
    { numRuns: 2000 },
  );
});

test('a listener that is added again after another was removed is called once', () => {
  const [first, second] = [0, 1].map(() => ({
    count: 0,
    handleEvent: function () {
      this.count++;
    },
  }));
  const signal = new RequestSignal();
  for (const listener of [first!, second!]) signal.addEventListener('abort', listener);
  signal.removeEventListener('abort', first!);
  signal.addEventListener('abort', second!);
  signal.abort(GONE);
  expect([first!.count, second!.count]).toEqual([0, 1]);
});

test('its AbortSignal is aborted with it, whichever is first', () => {
  const [early, late] = [new RequestSignal(), new RequestSignal()];
  const before = early.toAbortSignal();
  early.abort(GONE);
  late.abort(GONE);
  expect([before.aborted, before.reason]).toEqual([true, GONE]);
  expect(late.toAbortSignal().reason).toBe(GONE);
  expect(late.toAbortSignal()).toBe(late.toAbortSignal());
});
