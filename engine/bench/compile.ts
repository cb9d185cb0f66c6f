/** `make bench`: what a request costs before it reaches Postgres (step.ts). In: a small blog of three tables, no database.
 *  Not here: whole requests beside other engines, which need a rig. */
import { resolveTables } from '../resolve/testing/small-world.ts';
import { type RoleSchema, roleSchema } from '../schema/role-schemas.ts';
import { printSteps, type Query } from './step.ts';

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

printSteps(blogAs('admin'), QUERIES);

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
