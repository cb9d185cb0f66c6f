/** Every page and view of the console: its address in a world (worlds.ts), and an expression that is true when the page shows what it is about.
 *  Tests of rules that hold for all pages read this list; `every-page.test.ts` fails when a page of the console is missing in it. */
import type { World } from './worlds.ts';

export type ListedPage = { readonly title: string; readonly path: string; readonly isShown: string };

const HAS_TABLE = `document.querySelector('main tbody th')`;
/** A view has read what it shows, which may be nothing. */
const IS_READ = `document.querySelector('.views [aria-current]') && !/Loading|Reading/.test(document.querySelector('main').innerText)`;

export function pagesOf({ roles: [role, other], table: { schema, name } }: World): readonly ListedPage[] {
  const given = (parameters: Record<string, string>) => new URLSearchParams(parameters).toString();
  return [
    {
      title: 'Explore',
      path: '',
      isShown: `document.querySelector('.graphiql-query-editor .view-lines')?.innerText.includes('query')`,
    },
    { title: 'Access', path: `access?${given({ role, compare: other })}`, isShown: HAS_TABLE },
    { title: 'Model', path: 'model', isShown: `document.querySelectorAll('.rows a').length > 0` },
    {
      title: 'Model, a table',
      path: `model/table/default/${schema}/${name}`,
      isShown: `document.querySelectorAll('.diagram .node').length > 1`,
    },
    { title: 'Data', path: 'data', isShown: `document.querySelector('.data .controls')` },
    {
      title: 'Data, a table',
      path: `data?${given({ table: name })}`,
      isShown: `/\\(\\d+(\\.\\d+)? ms\\)/.test(document.querySelector('.data').innerText)`,
    },
    { title: 'Ownership', path: 'ownership', isShown: IS_READ },
    { title: 'Ownership, tests', path: 'ownership?view=tests', isShown: IS_READ },
    { title: 'Ownership, objects without a resource', path: 'ownership?view=unowned', isShown: HAS_TABLE },
    {
      title: 'Ownership, versions',
      path: 'ownership?view=revisions',
      isShown: `${IS_READ} && document.querySelector('main .object-change, main [role=status]')`,
    },
    { title: 'Activity', path: 'activity', isShown: `document.querySelectorAll('.chart').length === 6` },
    ...['events', 'scheduled', 'actions', 'subscriptions', 'usage'].map((view) => ({
      title: `Activity, ${view}`,
      path: `activity?view=${view}`,
      isShown: IS_READ,
    })),
    {
      title: 'Change',
      path: 'change?kind=TablePermission',
      isShown: `document.querySelector('.change legend')`,
    },
  ];
}
