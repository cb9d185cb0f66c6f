/** The statement that finds the rows an action's answer belongs to. */
import { expect, test } from 'vitest';
import { prepareDocument } from '../plan/document.ts';
import { planRequest } from '../plan/plan.ts';
import { coerceVariables } from '../plan/variables.ts';
import { resolve } from '../resolve/resolve.ts';
import { AUTHORS } from '../resolve/testing/small-world.ts';
import { roleSchema } from '../schema/role-schemas.ts';
import { type KeyedRead, preparePlan, type Step } from './plan.ts';

const public_ = (name: string) => ({ schema: 'public', name });
const relationship = (name: string, table: string, column: string) => ({
  name,
  type: name === 'author' ? ('object' as const) : ('array' as const),
  remote_table: public_(table),
  field_mapping: { id: column },
});
const MODEL = resolve(
  {
    version: 3,
    sources: [
      {
        name: 'default',
        kind: 'postgres',
        configuration: { connection_info: { database_url: '' } },
        tables: [{ table: public_('author') }, { table: public_('article') }],
      },
    ],
    custom_types: {
      objects: [
        {
          name: 'Who',
          fields: [
            { name: 'id', type: 'Int!' },
            { name: 'boss', type: 'Who' },
          ],
          relationships: [
            relationship('author', 'author', 'id'),
            relationship('articles', 'article', 'author_id'),
          ],
        },
      ],
    },
    actions: [{ name: 'who', definition: { type: 'query', handler: 'http://x', output_type: '[Who!]' } }],
  },
  new Map([['default', AUTHORS]]),
  { stringifyNumericTypes: false },
).model;

function prepared(text: string) {
  const document = prepareDocument(roleSchema(MODEL, 'admin', false), text, null);
  return preparePlan(planRequest(document, coerceVariables(document, null)).plan);
}

/** Returns what the only step, an action, reads by keys. */
function readOf([step]: readonly Step[]): KeyedRead {
  if (step?.kind !== 'action') throw new Error('the step is not an action');
  return step.rows;
}

test('all objects of a level are rows of one statement, in their order, joined like a table', () => {
  const { statements, steps } = prepared(
    '{ who { author { name } articles(where: {title: {_eq: "x"}}) { title } } }',
  );
  const read = readOf(steps);
  expect(statements).toEqual([]);
  expect(read.statements.map(({ text }) => text)).toEqual([
    expect.stringContaining(
      'from (select "k0", "ordinal" from unnest($2::"pg_catalog"."int4"[]) with ordinality "given"("k0", "ordinal")) "t0"',
    ),
  ]);
  const [{ text, parameters }] = read.statements as [(typeof statements)[0]];
  expect(text).toContain('left join "public"."author" "t1" on "t1"."id" = "t0"."k0"');
  expect(text).toContain('order by "t0"."ordinal"');
  expect(text).not.toContain("'x'");
  expect(parameters.map(({ kind }) => kind)).toEqual(['constant', 'variable']);
});

test('levels of one source are columns of one statement', () => {
  const read = readOf(prepared('{ who { author { id } boss { author { id } } } }').steps);
  expect(read.statements).toHaveLength(1);
  expect(read.columns).toEqual([
    { statement: 0, column: 0, width: 1 },
    { statement: 0, column: 1, width: 1 },
  ]);
});

test('an answer without rows needs no statement', () => {
  expect(readOf(prepared('{ who { id boss { id } } }').steps).statements).toEqual([]);
});
