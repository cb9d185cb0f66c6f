/** Names of scalars, which come from Postgres and may be taken. */
import { isInputObjectType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { builtinType } from '../catalog/types.ts';
import { catalogOf, resolveTables, tableIn } from '../resolve/testing/small-world.ts';
import { roleSchema } from './role-schemas.ts';

test('a scalar makes room for a type of its name, wherever it is used', () => {
  const custom = (name: string) => {
    return { type: { schema: 'public', name, kind: 'base', element: null, base: null } } as const;
  };
  const searching = {
    schema: 'public',
    name: 'beside',
    oid: 2,
    comment: null,
    arguments: [{ name: 'shape', type: builtinType('line'), hasDefault: false, mode: 'in' as const }],
    hasVariadic: false,
    returnType: builtinType('record'),
    returnsSet: true,
    returnsTable: { schema: 'public', name: 'line' },
    volatility: 'stable' as const,
  };
  const catalog = {
    ...catalogOf(
      tableIn('line', {
        id: 'int4!',
        shape: 'line',
        shapes: 'line[]',
        at: 'date',
        odd: custom('line_updates'),
      }),
      tableIn('pg_line', { id: 'int4!' }),
    ),
    functions: new Map([['["public","beside"]', [searching]]]),
  };
  const { model, reasons } = resolveTables({ line: {}, pg_line: {} }, catalog, undefined, [
    { function: { schema: 'public', name: 'beside' } },
  ]);
  expect(reasons).toEqual([]);
  const schema = roleSchema(model, 'admin', false).schema();
  const fieldsOf = (name: string) => {
    const type = schema.getType(name);
    const fields = isObjectType(type) || isInputObjectType(type) ? type.getFields() : {};
    return Object.values(fields).map((field) => String(field.type));
  };
  expect(fieldsOf('line')).toEqual(['Int!', 'pg_pg_line', '[pg_pg_line!]', 'date', 'pg_pg_line_updates']);
  expect(fieldsOf('line_bool_exp')).toContain('pg_pg_line_comparison_exp');
  expect(fieldsOf('beside_args')).toEqual(['pg_pg_line']);
});
