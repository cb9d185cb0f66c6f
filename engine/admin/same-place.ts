/** Whether a source or a remote schema, as it is configured now, is asked as it was before: then what it said still counts.
 *  Not here: asking it (ground.ts). */

import { isSameJsonText } from '../json/value.ts';
import type { RemoteSchema } from '../metadata/schema/remote-schema.ts';
import type { Source } from '../metadata/schema/source.ts';

/** Would the same be asked in the same way? */
export function isSameEndpoint(
  before: RemoteSchema | undefined,
  { url, url_from_env, headers }: RemoteSchema['definition'],
): boolean {
  const known = before?.definition;
  const same = [known?.url, known?.url_from_env, known?.headers ?? []];
  return known !== undefined && isSameJsonText(same, [url, url_from_env, headers ?? []]);
}

export function connectsAlike(before: Source | undefined, after: Source): boolean {
  return before !== undefined && isSameJsonText(before.configuration, after.configuration);
}
