/** docs/reference/options.md: the options of `pergola serve` and of `pergola operator`, from their two tables. */
import { DIFFERENCES } from '../../engine/config/compatibility.ts';
import {
  FOREIGN_PREFIX,
  OPTION_GROUPS,
  OPTIONS,
  type OptionFlag,
  type OptionRow,
  variableOf,
  variablesWithoutEffect,
  WITHOUT_EFFECT,
} from '../../engine/config/options.ts';
import { OPTIONS as OPERATOR_OPTIONS } from '../../operator/kubernetes/options.ts';
import { code, page, table } from './markdown.ts';

const HEAD = ['Flag', 'Variable', 'Default', 'Meaning'];

export function optionsPage(): string {
  return page(
    'Options',
    'Generated from `engine/config/options.ts` and `operator/kubernetes/options.ts` by `make generate`.',
    'A flag has priority over its variable. Pass secrets as variables: flags are visible in the list of processes.',
    '## pergola serve',
    ...OPTION_GROUPS.flatMap((group) => [`### ${group}`, engineTable(group)]),
    '### Other names',
    `A variable with the prefix \`${FOREIGN_PREFIX}\` is read where the variable of the table is not set. These names, too, are ` +
      'those of Hasura:',
    table(['Option', 'Other flags', 'Other variables, after the prefix'], otherNames()),
    '### Differences from Hasura',
    'These defaults differ from what Hasura does. `--compatibility reference` gives the options marked with the switch the ' +
      'value of the last column, if they are not set. A line of the log names what differs when variables of Hasura are read, ' +
      'and the answer to a request that an option refuses names the option.',
    table(
      ['Option', 'By default', 'Why', 'Switch', 'As in the reference'],
      DIFFERENCES.map(({ option, what, why, isInSwitch, value }) => [
        code(`--${option}`),
        what,
        why,
        isInSwitch ? 'yes' : 'no',
        code(String(value)),
      ]),
    ),
    '### Accepted without effect',
    'The engine starts with these options of Hasura, and a line of the log names those that are set.',
    table(
      ['Flag', 'Variable', 'Reason'],
      Object.entries(WITHOUT_EFFECT).map(([flag, { why }]) => [
        code(flag.length === 1 ? `-${flag}` : `--${flag}`),
        variablesWithoutEffect(flag).map(code).join(' '),
        why,
      ]),
    ),
    '## pergola operator',
    table(
      HEAD,
      Object.entries(OPERATOR_OPTIONS).map(([flag, row]) => [
        code(`--${flag}`),
        code(row.variable),
        row.default === '' ? '' : code(row.default),
        row.doc,
      ]),
    ),
  );
}

function otherNames(): string[][] {
  return Object.entries<OptionRow<unknown>>(OPTIONS)
    .filter(([, { alsoFlags, alsoVariables }]) => alsoFlags || alsoVariables)
    .map(([flag, { alsoFlags = [], alsoVariables = [] }]) => [
      code(`--${flag}`),
      alsoFlags.map((name) => code(name.length === 1 ? `-${name}` : `--${name}`)).join(' '),
      alsoVariables.map(code).join(' '),
    ]);
}

function engineTable(group: (typeof OPTION_GROUPS)[number]): string {
  const rows = Object.entries<OptionRow<unknown>>(OPTIONS).filter(([, row]) => row.group === group);
  return table(
    HEAD,
    rows.map(([flag, row]) => [
      code(`--${flag}`),
      code(variableOf(flag as OptionFlag)),
      row.default === undefined
        ? ''
        : code(`${String(row.default)}${row.type.unit ? ` ${row.type.unit}` : ''}`),
      row.doc,
    ]),
  );
}
