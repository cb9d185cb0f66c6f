/** Writes texts about a role's schema in slices, one after the other, since each holds all types of its role while it is written. A text is
 *  written once, for all requests of one plan, and kept with its model up to a number of bytes.
 *  In: a SchemaText of a plan. Out: its JSON text. Not here: what it says (plan/introspection.ts, plan/federation.ts). */
import { Lru } from '../limits/lru.ts';
import { inOrder } from '../limits/slices.ts';
import type { SchemaText } from '../plan/schema-text.ts';
import type { Model } from '../resolve/types.ts';

/** The bytes of texts that are kept for a model: introspection of its largest roles. */
const MOST_BYTES = 128_000_000;
/** The weight of a text in addition to its length. */
const TEXT_WEIGHT = 1000;

const kept = new WeakMap<Model, Lru<SchemaText, string | Buffer>>();
const inProgress = new WeakMap<SchemaText, Promise<string | Buffer>>();
const written = inOrder();

/** Returns the text. Requests at the same time wait for the same one; a text that could not be written is written again. */
export function schemaText(text: SchemaText): string | Buffer | Promise<string | Buffer> {
  const ofModel = kept.get(text.model) ?? new Lru(MOST_BYTES);
  kept.set(text.model, ofModel);
  const known = ofModel.get(text) ?? inProgress.get(text);
  if (known !== undefined) return known;
  const writing = written(() => text.steps())
    .then((value) => {
      ofModel.set(text, value, value.length + TEXT_WEIGHT);
      return value;
    })
    .finally(() => inProgress.delete(text));
  inProgress.set(text, writing);
  return writing;
}
