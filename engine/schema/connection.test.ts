/** What connections and Nodes are called and who has them: names by convention and customization, keys a role does not see. */
import { printType } from 'graphql';
import { expect, test } from 'vitest';
import type { SourceCustomization } from '../metadata/schema/source.ts';
import { resolveTables } from '../resolve/testing/small-world.ts';
import { roleSchema } from './role-schemas.ts';

const ARTICLES = {
  name: 'articles',
  using: {
    foreign_key_constraint_on: { table: { schema: 'public', name: 'article' }, columns: ['author_id'] },
  },
};

const select = (role: string, columns: string[], filter = {}) => ({ role, permission: { columns, filter } });

function relaySchema(customization?: SourceCustomization, role = 'admin') {
  const { model } = resolveTables(
    {
      author: {
        array_relationships: [ARTICLES],
        select_permissions: [select('reader', ['id', 'name']), select('nameless', ['name', 'email'])],
      },
      article: { select_permissions: [select('reader', ['id', 'title']), select('nameless', ['id'])] },
      profile: { select_permissions: [select('reader', ['text'])] },
    },
    undefined,
    customization,
  );
  return roleSchema(model, role, true, true).schema();
}

const fieldsOf = (schema: ReturnType<typeof relaySchema>, type: string): string[] =>
  Object.keys((schema.getType(type) as { getFields?: () => object } | undefined)?.getFields?.() ?? {});

test('roots are the connections of tables with a key, and node', () => {
  const schema = relaySchema();
  expect(fieldsOf(schema, 'query_root').sort()).toEqual(['article_connection', 'author_connection', 'node']);
  expect(fieldsOf(schema, 'subscription_root').sort()).toEqual(fieldsOf(schema, 'query_root').sort());
  expect(printType(schema.getType('articleEdge')!)).toBe(
    'type articleEdge {\n  cursor: String!\n  node: article!\n}',
  );
});

test('rows with a key are Nodes with a global id, others keep what they have', () => {
  const schema = relaySchema();
  expect(schema.getPossibleTypes(schema.getType('Node') as never).map(({ name }) => name)).toEqual([
    'author',
    'article',
  ]);
  expect(
    String(
      (schema.getType('article') as never as { getFields: () => { id: { type: unknown } } }).getFields().id
        .type,
    ),
  ).toBe('ID!');
  expect(fieldsOf(schema, 'author')).toEqual(
    expect.arrayContaining(['articles', 'articles_aggregate', 'articles_connection']),
  );
});

test('names follow the convention and the customization of the source', () => {
  const schema = relaySchema({
    naming_convention: 'graphql-default',
    root_fields: { namespace: 'shop', prefix: 'my' },
    type_names: { prefix: 'Shop', suffix: 'Type' },
  });
  expect(fieldsOf(schema, 'query_root').sort()).toEqual(['node', 'shop']);
  expect(fieldsOf(schema, 'ShopShop_queryType').sort()).toEqual([
    'myArticleConnection',
    'myAuthorConnection',
  ]);
  expect(fieldsOf(schema, 'ShopAuthorConnectionType').sort()).toEqual(['edges', 'pageInfo']);
  expect(fieldsOf(schema, 'ShopAuthorType')).toContain('articlesConnection');
});

test('a role has them where it may select from a table with a key', () => {
  const reader = relaySchema(undefined, 'reader');
  expect(fieldsOf(reader, 'query_root').sort()).toEqual(['article_connection', 'author_connection', 'node']);
  const nameless = relaySchema(undefined, 'nameless');
  expect(fieldsOf(nameless, 'query_root').sort()).toEqual([
    'article_connection',
    'author_connection',
    'node',
  ]);
  expect(fieldsOf(nameless, 'author_order_by')).not.toContain('id');
  expect(fieldsOf(relaySchema(undefined, 'nobody'), 'query_root')).toEqual(['no_queries_available']);
});
