/** The words a role reads of a data exception (SQLSTATE class 22). Postgres quotes the value that was wrong, and while a
 *  statement runs that may be a value of any row: of one the role does not see, where the role's own filter fails on it. So a
 *  role reads Postgres's words only where they are about the request's own values, or hold no value at all.
 *  In: a failure. Out: its text. Not here: which SQLSTATE is which error (pg-errors.ts). */

/** The fields of a failure that decide. */
export type DataFailure = {
  readonly code?: string;
  readonly message: string;
  /** The C function of Postgres that raised it. */
  readonly routine?: string;
  /** True when Postgres raised it while it read the parameters, before the statement ran. */
  readonly isBeforeRun?: boolean;
};

/** The text for a role. An administrator reads `message`. */
export function textForRole({ code = '', message, routine, isBeforeRun = false }: DataFailure): string {
  // A function's RAISE: its author says this to clients.
  if (isBeforeRun || routine === 'exec_stmt_raise') return message;
  return VALUE_FREE.exec(message)?.[0] ?? CONDITIONS[code] ?? 'data exception';
}

/** Messages without a value, or their part before it, as Postgres prints them in English. */
const VALUE_FREE = new RegExp(
  `^(${[
    'division by zero',
    '(smallint|integer|bigint|interval|timestamp|date|money|float|double precision|cash) out of range(?=$)',
    'numeric field overflow',
    'value out of range: (overflow|underflow)',
    String.raw`value too long for type [a-z ]+\(\d+\)`,
    'invalid input syntax for type ("[^"]*"|[a-z ]+)(?=$|:)',
    'invalid input value for enum ("[^"]*"|[a-z_0-9]+)(?=:)',
    'invalid (regular expression|escape string|escape sequence)(?=$|:)',
    'cannot take (logarithm of zero|logarithm of a negative number|square root of a negative number)',
    'LIKE pattern must not end with escape character',
    'malformed (array|record|range) literal(?=$|:)',
    'ON CONFLICT DO UPDATE command cannot affect row a second time',
    'cannot (delete|insert|set|replace|get|extract) [a-z ]+(?=$)',
    'invalid concatenation of jsonb objects',
    'argument of [a-z ]+ (must|cannot) [a-z ]+(?=$)',
    'constraint "[^"]*" for table "[^"]*" does not exist$',
    'l(tree|query|txtquery) syntax error(?= at|$)',
  ].join('|')})`,
);

/** Texts of conditions, by SQLSTATE. PostgreSQL manual, appendix "Error Codes". */
const CONDITIONS: Readonly<Record<string, string>> = {
  '22001': 'value too long',
  '22003': 'numeric value out of range',
  '22004': 'null value not allowed',
  '22007': 'invalid datetime format',
  '22008': 'datetime field overflow',
  '22012': 'division by zero',
  '22015': 'interval field overflow',
  '22018': 'invalid character value for cast',
  '22021': 'character not in repertoire',
  '22023': 'invalid parameter value',
  '2201B': 'invalid regular expression',
  '22P02': 'invalid text representation',
  '22P03': 'invalid binary representation',
  '22P05': 'untranslatable character',
  '42704': 'undefined object',
};
