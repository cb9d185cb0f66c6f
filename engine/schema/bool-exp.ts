/** `T_bool_exp` and `<Scalar>_comparison_exp`: what a `where` argument may say, from OPERATORS × SCALARS.
 *  Spec: BoolExp; reference: features.md 1.3. */
import {
  GraphQLBoolean,
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  type GraphQLScalarType,
  GraphQLString,
} from 'graphql';
import { OPERATORS, type OperatorRow, operatorsOf } from '../catalog/operators.ts';
import { type Scalar, type ScalarFamily, scalarOf } from '../catalog/scalars.ts';
import { builtinType, type PgType } from '../catalog/types.ts';
import type { ResolvedTable } from '../resolve/types.ts';
import { type SchemaBuilder, scalarName } from './builder.ts';
import { comparableComputedFields } from './function.ts';
import { conditionExtensions, inputExtensions } from './origin.ts';

export function boolExp(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType {
  return builder.named(`${table.typeName}_bool_exp`, (name) => {
    return new GraphQLInputObjectType({
      name,
      description: `Boolean expression to filter rows from the table "${table.table.name}". All fields are combined with a logical 'AND'.`,
      extensions: conditionExtensions,
      fields: () => {
        const self = boolExp(builder, table);
        const list = new GraphQLList(new GraphQLNonNull(self));
        return {
          _and: { type: list, extensions: inputExtensions({ kind: 'and' }) },
          _not: { type: self, extensions: inputExtensions({ kind: 'not' }) },
          _or: { type: list, extensions: inputExtensions({ kind: 'or' }) },
          ...Object.fromEntries(
            builder.selectableColumns(table).map((column) => [
              column.graphqlName,
              {
                type: comparison(builder, column.scalar),
                extensions: inputExtensions({ kind: 'column', column }),
              },
            ]),
          ),
          ...Object.fromEntries(
            comparableComputedFields(builder, table).map(({ field, scalar }) => [
              field.name,
              {
                type: comparison(builder, scalar),
                extensions: inputExtensions({ kind: 'computed', table, field }),
              },
            ]),
          ),
          ...Object.fromEntries(
            builder.relationships(table).map((related) => [
              related.relationship.name,
              {
                type: boolExp(builder, related.target),
                extensions: inputExtensions({ kind: 'relationship', ...related }),
              },
            ]),
          ),
        };
      },
    });
  });
}

export function comparison(builder: SchemaBuilder, scalar: Scalar): GraphQLInputObjectType {
  const type = builder.scalar(scalar);
  return builder.named(`${scalarName(scalar)}_comparison_exp`, (name) => {
    return new GraphQLInputObjectType({
      name,
      description: `Boolean expression to compare columns of type "${type.name}". All fields are combined with logical 'AND'.`,
      extensions: conditionExtensions,
      fields: () => ({ ...operatorFields(scalar, type), ...castField(builder, scalar) }),
    });
  });
}

function operatorFields(scalar: Scalar, type: GraphQLScalarType): GraphQLInputFieldConfigMap {
  return Object.fromEntries(
    operatorsOf(scalar.family).map((operator) => {
      const row: OperatorRow = OPERATORS[operator];
      return [
        operator,
        {
          type: OPERAND_TYPES[row.operand](type),
          description: row.description,
          extensions: inputExtensions({ kind: 'operator', operator }),
        },
      ];
    }),
  );
}

/** Types a family may be compared as, besides its own. */
const CASTS: Partial<Record<ScalarFamily, PgType>> = { jsonb: builtinType('text') };

function castField(builder: SchemaBuilder, scalar: Scalar): GraphQLInputFieldConfigMap {
  const to = CASTS[scalar.family];
  if (!to) return {};
  const target = scalarOf(to);
  const type = builder.named(`${scalarName(scalar)}_cast_exp`, (name) => {
    const extensions = inputExtensions({ kind: 'cast', to });
    return new GraphQLInputObjectType({
      name,
      extensions: conditionExtensions,
      fields: () => ({ [target.name]: { type: comparison(builder, target), extensions } }),
    });
  });
  return { _cast: { type, extensions: inputExtensions({ kind: 'casts' }) } };
}

const listOf = (type: GraphQLScalarType) => new GraphQLList(new GraphQLNonNull(type));

const OPERAND_TYPES: Readonly<Record<OperatorRow['operand'], (own: GraphQLScalarType) => GraphQLInputType>> =
  {
    same: (own) => own,
    list: listOf,
    text: () => GraphQLString,
    'text-list': () => listOf(GraphQLString),
    boolean: () => GraphQLBoolean,
  };
