/** The data provider of ra-data-hasura: every method that react-admin calls, built from introspection. */
import { createRequire } from 'node:module';
import { graphqlUrl, headers, report } from './lib.mjs';

const require = createRequire(import.meta.url);
const { default: buildHasuraProvider } = require('ra-data-hasura');

await report(async () => {
  const provider = await buildHasuraProvider({ clientOptions: { uri: graphqlUrl, headers } });
  const list = await provider.getList('book', {
    filter: { author_id: 1, 'title@_ilike': 'Em' },
    pagination: { page: 1, perPage: 2 },
    sort: { field: 'id', order: 'ASC' },
  });
  const created = await provider.create('book', { data: { title: 'by react-admin', author_id: 1 } });
  const { id } = created.data;
  const updated = await provider.update('book', {
    id,
    data: { ...created.data, title: 'renamed' },
    previousData: created.data,
  });
  const many = await provider.updateMany('book', { ids: [id], data: { title: 'renamed twice' } });
  const one = await provider.getOne('book', { id });
  const some = await provider.getMany('book', { ids: [1, 2] });
  const related = await provider.getManyReference('book', {
    target: 'author_id',
    id: 1,
    filter: {},
    pagination: { page: 1, perPage: 1 },
    sort: { field: 'id', order: 'DESC' },
  });
  const deleted = await provider.delete('book', { id, previousData: one.data });
  const another = await provider.create('book', { data: { title: 'another', author_id: 1 } });
  const deletedMany = await provider.deleteMany('book', { ids: [another.data.id] });
  const failed = await provider.create('book', { data: { title: null, author_id: 1 } }).then(
    () => null,
    ({ message }) => message,
  );
  return {
    list: { titles: list.data.map(({ title }) => title), total: list.total },
    created: created.data.title,
    updated: updated.data.title,
    many: many.data,
    one: one.data.title,
    some: some.data.map((book) => book.id),
    related: { ids: related.data.map((book) => book.id).length, hasTotal: related.total > 1 },
    deleted: deleted.data.id === id,
    deletedMany: deletedMany.data.length,
    id,
    failed,
  };
});
