/** OPTIONS → the text of `pergola serve --help`: by group, each with its flag, variable, default and meaning.
 *  Not here: the rows (options.ts). */
import { OPTION_GROUPS, OPTIONS, type OptionFlag, type OptionRow, variableOf } from './options.ts';

const INTRODUCTION = `pergola serve: a GraphQL API over Postgres.

  pergola serve --database-url postgres://user:password@localhost:5432/shop
  pergola serve --database-url … --admin-secret secret --enable-console

Each flag has an environment variable, named under it; the flag beats the variable.
Secrets are better given as variables: flags can be seen in the list of processes.
`;

export function optionsHelp(): string {
  const groups = OPTION_GROUPS.map((group) => {
    const rows = Object.entries<OptionRow<unknown>>(OPTIONS).filter(([, row]) => row.group === group);
    return `${group}\n${rows.map(([flag, row]) => describe(flag as OptionFlag, row)).join('\n')}`;
  });
  return `${INTRODUCTION}\n${groups.join('\n\n')}\n`;
}

function describe(flag: OptionFlag, row: OptionRow<unknown>): string {
  const notes = [variableOf(flag), ...(row.default === undefined ? [] : [`default ${print(row)}`])];
  return `  --${flag} ${row.type.placeholder}\n      ${row.doc}\n      ${notes.join(', ')}`;
}

function print(row: OptionRow<unknown>): string {
  const value = Array.isArray(row.default) ? row.default.join(',') : String(row.default);
  return row.type.unit ? `${value} ${row.type.unit}` : value;
}
