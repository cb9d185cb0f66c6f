/** The operators of updates, with what they do in SQL. Not here: random changes (change.ts). */

/** The operators that change a column, each with its SQL. PostgreSQL manual, "JSON Functions and Operators". */
export const OPERATORS = [
  { name: '_set', sql: (_own: string, value: string) => value },
  { name: '_inc', sql: (own: string, value: string) => `${own} + ${value}` },
  { name: '_append', sql: (own: string, value: string) => `${own} || ${value}` },
  { name: '_prepend', sql: (own: string, value: string) => `${value} || ${own}` },
  { name: '_delete_key', sql: (own: string, value: string) => `${own} - ${value}` },
] as const;
