/** Words for a value of a Secret with a line break, which a person did not mean: `echo secret | base64` encodes it. Pure.
 *  In: where the value is. Out: a part of a sentence. Not here: a key that is missing (missing-key.ts). */
import type { MissingKey } from './missing-key.ts';

const REMEDY = 'echo adds one, printf and kubectl create secret --from-literal do not';

/** True when the value ends with a line break. */
export function endsWithLineBreak(value: string): boolean {
  return /[\r\n]$/.test(value);
}

/** Returns a clause that names the key; `what` is what is wrong: `ends with a line break`. */
export function lineBreakText({ namespace, name, key }: Omit<MissingKey, 'kind'>, what: string): string {
  return `key ${key} of Secret ${namespace}/${name} ${what}: ${REMEDY}`;
}
