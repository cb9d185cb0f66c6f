/** What an attacker would send: names, texts and shapes that break out of their place wherever text is put together without
 *  care. Every text carries the run's marker, which nobody could guess: it must never be seen in a statement. */
import type { Choices } from './choices.ts';

const around = (marker: string): readonly string[] => [
  marker,
  `${marker}'; drop table canary; --`,
  `${marker}" or ""="`,
  `'${marker}`,
  `''${marker}''`,
  `\\${marker}\\`,
  `\\'${marker}`,
  `E'\\x27${marker}`,
  `$$${marker}$$`,
  `$1${marker}$2`,
  `${marker}/*`,
  `*/${marker}--`,
  `${marker}\u0000${marker}`,
  `\ud800${marker}`,
  `\u202e${marker}ﷺ☃`,
  `${marker}\r\n;select pg_sleep(9)`,
  `%${marker}_`,
  `${marker}\\`,
  `({[${marker}`,
  `(?<${marker}>a`,
  `[[:${marker}:]]`,
  `(${marker}|`,
  `{"${marker}",NULL}`,
  `{${marker}`,
  `[${marker}:1]={1}`,
  `{{${marker}}}`,
  '${' + marker + '}',
  `X-Engine-${marker}`,
  `$.${marker}['a']`,
  `${marker}[0][0]`,
  `1);${marker}`,
  `1e${marker}`,
  `${marker}::regclass`,
  `; ${marker} copy canary to program 'x'`,
  `${marker}${'x'.repeat(70)}`,
  `${marker}${'"\'\\'.repeat(2000)}`,
];

export function hostileText(choices: Choices, marker: string): string {
  return choices.of(around(marker));
}

/** Not text only: what a client may put where a value of some type belongs. */
export function hostileJson(choices: Choices, marker: string, depth = 0): unknown {
  const inner = () => hostileJson(choices, marker, depth + 1);
  switch (choices.below(depth > 3 ? 8 : 12)) {
    case 6:
      return choices.of([0, -1, 1.5, 1e308, 2 ** 31, 2 ** 53, -(2 ** 63)]);
    case 7:
      return choices.of([null, true, false]);
    case 8:
      return choices.times(choices.below(4), inner);
    case 9:
      return { [hostileText(choices, marker)]: inner() };
    case 10:
      return { _eq: inner(), __proto__: inner(), constructor: inner() };
    default:
      return hostileText(choices, marker);
  }
}

/** Names of tables, columns, constraints and types in Postgres: none longer than the 63 bytes it keeps. Each has the token
 *  that must only be seen between quotes. */
export const NAME_TOKEN = 'zqname';

const NAME_FORMS: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => `${name}"`,
  (name) => `"${name}"."x"`,
  (name) => `${name}'; drop table canary; --`,
  (name) => `${name} select`,
  (name) => `${name}\\`,
  (name) => `$1${name}`,
  (name) => `${name}\n--`,
  (name) => `${name}☃ﷺ\u202e`,
  (name) => `${name}%s{{x}}\${y}`,
  (name) => `/*${name}`,
  (name) => `${name}.*`,
  (name) => name + 'x'.repeat(63 - name.length),
  (name) => `${name}${'é'.repeat(Math.floor((63 - name.length) / 2))}`,
];

/** A name of its own for each number. */
export function hostileName(choices: Choices, number: number): string {
  return choices.of(NAME_FORMS)(`${NAME_TOKEN}${number}`);
}

/** Names GraphQL can spell, and somebody's keywords all the same. */
export const KEYWORD_NAMES = [
  'select',
  'table',
  'null_',
  'query',
  'fragment',
  'on',
  'type',
  'constructor',
  'toString',
  'hasOwnProperty',
  'user',
  '_and_',
] as const;
