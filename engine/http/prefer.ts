/** The preference `wait` of a request: how many seconds its client waits at most for what takes long. RFC 7240, "Preferences: wait".
 *  Not here: what a request does without waiting (state/target-waits.ts). */

/** Returns the milliseconds of `Prefer: wait=2`; undefined without the preference, or with another value than a whole number. Other
 *  preferences are ignored, as the RFC asks. */
export function waitMsOf(header: string | readonly string[] | undefined): number | undefined {
  const text = typeof header === 'string' ? header : (header ?? []).join(',');
  const preferences = text
    .split(',')
    .map((preference) => /^\s*wait\s*=\s*"?(\d{1,6})"?\s*(?:;|$)/i.exec(preference));
  const seconds = preferences.find((found) => found !== null)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
