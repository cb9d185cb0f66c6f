/** Every type a table's name is the beginning of is among the names it takes (resolve/names.ts), so that no other table
 *  can be called like one. */
import { expect, test } from 'vitest';
import { typeNamesOf } from '../resolve/names.ts';
import { resolveTables } from '../resolve/testing/small-world.ts';
import { roleSchema } from './role-schemas.ts';

test('no type is derived from a table without being its own', () => {
  const { model, table } = resolveTables({
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
    article: {
      object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: ['author_id'] } }],
    },
  });
  const names = (name: string) => typeNamesOf(table(name), model.features);
  const types = Object.keys(roleSchema(model, 'admin', true).schema().getTypeMap());
  for (const name of ['author', 'article']) {
    const isDerivedTwice = new RegExp(`^${name}_(aggregate_bool_exp|select_column)_`);
    const derived = types.filter((type) => type.startsWith(`${name}_`) && !isDerivedTwice.test(type));
    expect(derived.length).toBeGreaterThan(20);
    expect(derived.filter((type) => !names(name).includes(type))).toEqual([]);
  }
});
