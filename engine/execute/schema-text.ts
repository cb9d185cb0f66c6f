/** Writes texts about a role's schema in slices, one after the other, since each holds all types of its role while it is written. A text is
 *  written once, for all requests of one plan, and kept with its model within the budget of caches.
 *  In: a SchemaText of a plan. Out: its JSON text. Not here: what it says (plan/introspection.ts, plan/federation.ts). */
import { fail } from '../errors/engine-error.ts';
import { withinHeap } from '../limits/heap-room.ts';
import { inOrder } from '../limits/slices.ts';
import type { SchemaText } from '../plan/schema-text.ts';
import { schemaTextsOf } from './plan-cache.ts';

/** The bytes of a text in addition to its length. */
const TEXT_BYTES = 1000;

const inProgress = new WeakMap<SchemaText, Promise<string | Buffer>>();
const written = inOrder();

/** Returns the text. Requests at the same time wait for the same one; a text that could not be written is written again.
 *  Raises `schemaBeyondMemory`. */
export function schemaText(text: SchemaText): string | Buffer | Promise<string | Buffer> {
  const texts = schemaTextsOf(text.model);
  const known = texts.get(text) ?? inProgress.get(text);
  if (known !== undefined) return known;
  const begin = performance.now();
  const writing = written(() => withinHeap(text.steps(), refuse))
    .then((value) => {
      const milliseconds = performance.now() - begin;
      texts.set(text, value, { bytes: value.length + TEXT_BYTES, milliseconds });
      return value;
    })
    .finally(() => inProgress.delete(text));
  inProgress.set(text, writing);
  return writing;
}

function refuse(limitBytes: number): never {
  fail('schemaBeyondMemory', { mebibytes: Math.round(limitBytes / 2 ** 20) });
}
