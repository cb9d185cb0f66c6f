/** docs/reference/options.md: the options of `pergola serve` and of `pergola operator`, from their two tables. */
import {
  OPTION_GROUPS,
  OPTIONS,
  type OptionFlag,
  type OptionRow,
  variableOf,
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

function engineTable(group: (typeof OPTION_GROUPS)[number]): string {
  const rows = Object.entries<OptionRow<unknown>>(OPTIONS).filter(([, row]) => row.group === group);
  return table(
    HEAD,
    rows.map(([flag, row]) => [
      code(`--${flag}`),
      code(variableOf(flag as OptionFlag)),
      row.default === undefined ? '' : code(`${String(row.default)}${row.unit ? ` ${row.unit}` : ''}`),
      row.doc,
    ]),
  );
}
