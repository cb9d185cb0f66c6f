/** docs/reference/chart.md: the values of the chart, from VALUES. */
import { valueRows } from '../../deploy/chart/print.ts';
import { VALUES } from '../../deploy/chart/values.ts';
import { code, page, table } from './markdown.ts';

export function chartPage(): string {
  return page(
    'Values of the chart',
    'Generated from `deploy/chart/values.ts` by `make generate`. How to install it: [installing](../guides/installing.md).',
    'Unknown values are refused before anything is installed, including unknown options of the programs. An option ' +
      'of a program is `engine.options.<flag>` or `operator.options.<flag>`: see [options](options.md).',
    valuesTable(),
  );
}

/** Returns the table of all values. */
export function valuesTable(): string {
  const rows = valueRows(VALUES).map(({ path, default: preset, doc }) => [code(path), code(preset), doc]);
  return table(['Value', 'Default', 'Meaning'], rows);
}
