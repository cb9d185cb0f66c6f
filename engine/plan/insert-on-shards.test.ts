/** Writes to tables of a Citus cluster that are refused before they are sent: what no statement could do there is no part of the schema, or an
 *  error that names the reason. */
import { expect, test } from 'vitest';
import type { Distribution } from '../catalog/distribution.ts';
import { qualifiedKey } from '../metadata/schema/common.ts';
import { AUTHORS, resolveTables } from '../resolve/testing/small-world.ts';
import { roleSchema } from '../schema/role-schemas.ts';
import { prepareDocument } from './document.ts';
import { planRequest } from './plan.ts';
import { errorOf } from './testing/ask.ts';
import { coerceVariables } from './variables.ts';

const named = (name: string) => ({ schema: 'public', name });
const BY_ID: Distribution = { kind: 'distributed', column: 'id', colocation: 1 };
type Rule = Record<string, unknown>;
const OF_ADA: Rule = { author: { name: { _eq: 'Ada' } } };

/** Returns the tables in a cluster; `set` are presets of an update, `ofAuthors` the distribution of the other table. */
function onShards(
  distribution: Distribution | 'known' | undefined,
  filter: Rule,
  set: Rule = {},
  ofAuthors = distribution,
) {
  const tables = [...AUTHORS.tables].map(([key, table]) => {
    const given = key === qualifiedKey(named('author')) ? ofAuthors : distribution;
    if (given === 'known') return [key, { ...table, isLocalInCluster: true as const }] as const;
    return [key, given ? { ...table, distribution: given } : table] as const;
  });
  const author = { column_mapping: { author_id: 'id' }, remote_table: named('author') };
  const entries = {
    author: {},
    article: {
      object_relationships: [{ name: 'author', using: { manual_configuration: author } }],
      select_permissions: [{ role: 'writer', permission: { columns: '*' as const, filter: {} } }],
      insert_permissions: [{ role: 'writer', permission: { columns: '*' as const, check: {} } }],
      update_permissions: [{ role: 'writer', permission: { columns: '*' as const, filter, set } }],
      delete_permissions: [{ role: 'writer', permission: { filter } }],
    },
  };
  const { model, reasons } = resolveTables(entries, { ...AUTHORS, hasCitus: true, tables: new Map(tables) });
  const refusal = (text: string, role = 'writer') =>
    errorOf(() => {
      const document = prepareDocument(roleSchema(model, role, false), text, null);
      planRequest(document, coerceVariables(document, null));
    });
  return { reasons, refusal };
}

const upsert = (where: string) =>
  `mutation { insert_article_one(object: {id: 1, title: "x", author_id: 1},
    on_conflict: {constraint: article_pkey, update_columns: [title], where: ${where}}) { id } }`;
const READS_OTHERS =
  '$.selectionSet.insert_article_one.args.on_conflict: rows of "article" that exist cannot be updated by an insert because the condition on them reads other rows, which a Citus cluster does not support. Update them by themselves';

/** The error for a condition that the schema does not have. */
const NO_FIELD = expect.stringContaining("field 'author' not found in type: 'article_on_conflict_bool_exp'");

test('an upsert on shards has no condition that reads other rows, in the schema or by the permission', () => {
  for (const distribution of [BY_ID, { kind: 'reference' }] as const) {
    const { refusal } = onShards(distribution, {});
    expect(refusal(upsert('{title: {_eq: "y"}}'))).toBe('no error');
    expect(refusal(upsert('{author: {id: {_eq: 1}}}'), 'admin')).toEqual(NO_FIELD);
    expect(refusal(upsert('{_or: [{_not: {title: {_eq: "y"}}}]}'), 'admin')).toBe('no error');
    // By the permission every request would be refused, so that its columns are not in the schema.
    expect(onShards(distribution, OF_ADA).refusal(upsert('{}'))).toMatch(/article_update_column/);
    expect(onShards(distribution, OF_ADA).refusal(upsert('{}').replace('[title]', '[]'))).toBe('no error');
  }
  expect(onShards(undefined, OF_ADA).refusal(upsert('{}'))).toBe('no error');
});

test('an upsert of a local table is refused when its condition reads others and Citus knows one of them', () => {
  const where = upsert('{author: {id: {_eq: 1}}}');
  expect(onShards(undefined, {}, {}, BY_ID).refusal(where, 'admin')).toBe(READS_OTHERS);
  expect(onShards(undefined, {}, {}, { kind: 'reference' }).refusal(where, 'admin')).toBe(READS_OTHERS);
  expect(onShards(undefined, {}).refusal(where, 'admin')).toBe('no error');
  expect(onShards('known', {}).refusal(where, 'admin')).toEqual(NO_FIELD);
  expect(onShards('known', {}).refusal(upsert('{title: {_eq: "y"}}'), 'admin')).toBe('no error');
});

test('a local table is not written by a condition on tables that only Citus reads', () => {
  const update =
    'mutation { update_article(where: {author: {id: {_eq: 1}}}, _set: {title: "t"}) { affected_rows } }';
  const remove = 'mutation { delete_article(where: {author: {id: {_eq: 1}}}) { affected_rows } }';
  const unknown = onShards(undefined, {}, {}, { kind: 'reference' });
  for (const text of [update, remove]) {
    expect(unknown.refusal(text, 'admin')).toContain("select citus_add_local_table_to_metadata('article')");
    expect(onShards('known', {}, {}, { kind: 'reference' }).refusal(text, 'admin')).toBe('no error');
    expect(onShards(undefined, {}).refusal(text, 'admin')).toBe('no error');
  }
});

test('a permission to write a local table by rows that only Citus reads is refused when it is declared', () => {
  const refused = expect.stringContaining("select citus_add_local_table_to_metadata('article')");
  expect(onShards(undefined, OF_ADA, {}, BY_ID).reasons).toEqual([refused, refused]);
  expect(onShards(undefined, {}, {}, BY_ID).reasons).toEqual([]);
  expect(onShards(undefined, OF_ADA).reasons).toEqual([]);
  for (const distribution of ['known', BY_ID] as const)
    expect(onShards(distribution, OF_ADA, {}, BY_ID).reasons).toEqual([]);
});

test('no update changes the distribution column, which an insert gives', () => {
  const update = 'mutation { update_article(where: {}, _set: {id: 2}) { affected_rows } }';
  for (const role of ['admin', 'writer']) {
    expect(onShards(BY_ID, {}).refusal(update, role)).toMatch(
      /field 'id' not found in type: 'article_set_input'/,
    );
    expect(onShards(undefined, {}).refusal(update, role)).toBe('no error');
    expect(onShards(BY_ID, {}).refusal(update.replace('id: 2', 'title: "t"'), role)).toBe('no error');
  }
  expect(onShards(BY_ID, {}, { id: 'X-Engine-Id' }).reasons).toEqual([
    expect.stringContaining('column "id" cannot be updated because the table is distributed by it'),
  ]);
});
