/** `make bench`: what a request costs before it reaches Postgres, in microseconds at the median: the first time a text is seen
 *  (parse, validate, plan, render) and every time after (two look-ups and the check of its variables).
 *  In: a small blog of three tables, no database. Not here: whole requests beside other engines, which need a rig. */
import { performance } from 'node:perf_hooks';
import { planned } from '../execute/plan-cache.ts';
import { prepareDocument } from '../plan/document.ts';
import { planRequest } from '../plan/plan.ts';
import { coerceVariables } from '../plan/variables.ts';
import { resolveTables } from '../resolve/testing/small-world.ts';
import { type RoleSchema, roleSchema } from '../schema/role-schemas.ts';
import { renderPlan } from '../sql/plan.ts';

type Query = { readonly name: string; readonly text: string; readonly variables: Record<string, unknown> };

const QUERIES: readonly Query[] = [
  { name: 'list', text: '{ author { name } }', variables: {} },
  {
    name: 'by key',
    text: 'query ($id: Int!) { author_by_pk(id: $id) { id name } }',
    variables: { id: 1 },
  },
  {
    name: 'nested',
    text: `query ($n: Int!) { author(order_by: {name: asc}, limit: $n) {
      name articles(order_by: {id: asc}) { title author { name articles { id title } } } } }`,
    variables: { n: 20 },
  },
  {
    name: 'complex',
    text: `query ($q: String!, $n: Int = 1000) { author(order_by: {name: asc},
      where: {articles: {author: {articles: {title: {_eq: $q}}}}}) {
      name articles(where: {author: {articles: {title: {_eq: $q}}}}, limit: $n) {
        title author { name email articles(order_by: {id: asc}) { id title } } } } }`,
    variables: { q: 'x' },
  },
  {
    name: 'search',
    text: `query ($q: String!) { article(where: {_or: [{title: {_ilike: $q}}, {author: {name: {_ilike: $q}}}]},
      order_by: [{title: asc}, {id: asc}], limit: 20) { id title author { id name email joined } } }`,
    variables: { q: '%a%' },
  },
  {
    name: 'update',
    text: 'mutation ($id: Int!, $name: String!) { update_author_by_pk(pk_columns: {id: $id}, _set: {name: $name}) { id name } }',
    variables: { id: 1, name: 'x' },
  },
];

const ROUNDS = 2000;
const role = blogAs('admin');

console.log('microseconds at the median of 2,000'.padEnd(40), 'first time', '     again');
for (const query of QUERIES) {
  const first = median(() => compileOnce(role, query));
  planned(role, { query: query.text, variables: query.variables });
  const again = median(() => planned(role, { query: query.text, variables: query.variables }));
  console.log(query.name.padEnd(40), first.toFixed(1).padStart(10), again.toFixed(1).padStart(10));
}

function compileOnce(schema: RoleSchema, { text, variables }: Query): void {
  const document = prepareDocument(schema, text, null);
  renderPlan(planRequest(document, coerceVariables(document, variables)));
}

function median(body: () => void): number {
  for (let i = 0; i < 200; i++) body();
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    body();
    return performance.now() - start;
  });
  return times.sort((a, b) => a - b)[ROUNDS / 2]! * 1000;
}

function blogAs(name: string): RoleSchema {
  const using = (columns: string[]) => ({ foreign_key_constraint_on: columns });
  const { model } = resolveTables({
    author: {
      array_relationships: [
        {
          name: 'articles',
          using: {
            foreign_key_constraint_on: {
              table: { schema: 'public', name: 'article' },
              columns: ['author_id'],
            },
          },
        },
      ],
    },
    article: { object_relationships: [{ name: 'author', using: using(['author_id']) }] },
    profile: {},
  });
  return roleSchema(model, name, false);
}
