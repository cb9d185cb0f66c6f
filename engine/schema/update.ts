/** Inputs of an update: the operators on columns and, with the feature `nested_updates`, deletes and updates of related rows
 *  that the role may read through the relationship and may write. Why it looks like this: ADR 8. Not here: the root fields
 *  (mutation.ts). Reference: docs/reference/behaviour/mutations.md. */
import {
  type GraphQLInputFieldConfigMap,
  GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
} from 'graphql';
import { SCALARS, type Scalar } from '../catalog/scalars.ts';
import type { ResolvedColumn } from '../resolve/model/column.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { derivedTypeName } from '../resolve/names.ts';
import { fieldName } from '../resolve/naming.ts';
import { boolExp } from './bool-exp.ts';
import type { SchemaBuilder } from './builder.ts';
import { columnInputs, writableColumns } from './columns.ts';
import { inputExtensions, nullRefused } from './origin.ts';

/** The argument for related rows, in the default naming convention. Like the operators, it cannot collide with a relationship. */
export const RELATED = '_related';

type Operator = {
  readonly name: string;
  readonly about: string;
  readonly applies: (column: ResolvedColumn) => boolean;
  /** The type of the operand; absent, it is the column's type. */
  readonly operand?: { readonly scalar: Scalar; readonly isList?: true; readonly takesNull: boolean };
};

const isJsonb = (column: ResolvedColumn) => column.scalar.family === 'jsonb';

/** The operators of an update, in schema order. */
export const UPDATE_OPERATORS: readonly Operator[] = [
  {
    name: '_append',
    about: 'append existing jsonb value of filtered columns with new jsonb value',
    applies: isJsonb,
  },
  {
    name: '_delete_at_path',
    about:
      'delete the field or element with specified path (for JSON arrays, negative integers count from the end)',
    applies: isJsonb,
    operand: { scalar: SCALARS['text']!, isList: true, takesNull: false },
  },
  {
    name: '_delete_elem',
    about: 'delete the array element with specified index (negative integers count from the end)',
    applies: isJsonb,
    operand: { scalar: SCALARS['int4']!, takesNull: false },
  },
  {
    name: '_delete_key',
    about: 'delete key/value pair or string element',
    applies: isJsonb,
    operand: { scalar: SCALARS['text']!, takesNull: true },
  },
  {
    name: '_inc',
    about: 'increments the numeric columns with given value of the filtered values',
    applies: (c) => c.scalar.arithmetic !== 'none',
  },
  {
    name: '_prepend',
    about: 'prepend existing jsonb value of filtered columns with new jsonb value',
    applies: isJsonb,
  },
  { name: '_set', about: 'sets the columns of the filtered rows to the given values', applies: () => true },
];

/** True when the role may update the table. Presets write to it even if the role may write no column. */
export function mayUpdate(builder: SchemaBuilder, table: ResolvedTable): boolean {
  return builder.access(table).update !== null;
}

export function updateWhere(builder: SchemaBuilder, table: ResolvedTable) {
  return {
    type: new GraphQLNonNull(boolExp(builder, table)),
    description: 'filter the rows which have to be updated',
  };
}

/** Returns the input of one of several updates: the arguments of an update as an object. */
export function updatesInput(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType {
  return builder.named(
    derivedTypeName(table, 'updates'),
    (name) =>
      new GraphQLInputObjectType({
        name,
        fields: () => ({ ...updateArguments(builder, table), where: updateWhere(builder, table) }),
      }),
  );
}

/** Returns the arguments that write: the operators, and the writes to related rows. */
export function updateArguments(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputFieldConfigMap {
  return { ...updateOperators(builder, table), ...relatedArgument(builder, table) };
}

function relatedArgument(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputFieldConfigMap {
  if (!builder.model.features.has('nested_updates') || !builder.select(table)) return {};
  const related = builder
    .relationships(table)
    .filter(({ target }) => mayUpdate(builder, target) || builder.access(target).delete !== null);
  if (related.length === 0) return {};
  const type = builder.named(
    derivedTypeName(table, 'related_input'),
    (name) =>
      new GraphQLInputObjectType({
        name,
        description: `writes to rows related to updated rows of table "${table.table.name}"`,
        fields: () =>
          Object.fromEntries(
            related.map((each) => [
              each.relationship.name,
              {
                type: relatedWrites(builder, each.target),
                extensions: inputExtensions({ kind: 'relationship', ...each }),
              },
            ]),
          ),
      }),
  );
  const description = 'deletes and updates of the rows related to the updated ones';
  return { [fieldName(table.naming, RELATED)]: { type, description } };
}

/** Returns the deletes, then the updates, in the order they run. */
function relatedWrites(builder: SchemaBuilder, target: ResolvedTable): GraphQLInputObjectType {
  const listOf = (type: GraphQLInputObjectType) => new GraphQLList(new GraphQLNonNull(type));
  return builder.input(derivedTypeName(target, 'related_writes_input'), {
    description: `writes to rows of table "${target.table.name}" through a relationship`,
    fields: () => ({
      ...(builder.access(target).delete
        ? { delete: { type: listOf(deletesInput(builder, target)), description: 'deletes, in order' } }
        : {}),
      ...(mayUpdate(builder, target)
        ? { update: { type: listOf(updatesInput(builder, target)), description: 'updates, in order' } }
        : {}),
    }),
  });
}

function deletesInput(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputObjectType {
  return builder.named(derivedTypeName(table, 'deletes'), (name) => {
    const where = {
      type: new GraphQLNonNull(boolExp(builder, table)),
      description: 'filter the rows which have to be deleted',
    };
    return new GraphQLInputObjectType({ name, fields: () => ({ where }) });
  });
}

function updateOperators(builder: SchemaBuilder, table: ResolvedTable): GraphQLInputFieldConfigMap {
  const columns = writableColumns(table, builder.access(table).update?.columns);
  return Object.fromEntries(
    UPDATE_OPERATORS.flatMap(({ name, about, applies, operand }) => {
      const applicable = columns.filter(applies);
      if (applicable.length === 0) return [];
      const input = builder.named(
        derivedTypeName(table, `${name.slice(1)}_input`),
        (typeName) =>
          new GraphQLInputObjectType({
            name: typeName,
            description: about,
            fields: () => columnInputs(builder, applicable, operand && operandInput(builder, operand)),
          }),
      );
      return [[fieldName(table.naming, name), { type: input, description: about, extensions: nullRefused }]];
    }),
  );
}

function operandInput(
  builder: SchemaBuilder,
  { scalar, isList, takesNull }: NonNullable<Operator['operand']>,
) {
  const type = builder.scalar(scalar);
  return { type: isList ? new GraphQLList(new GraphQLNonNull(type)) : type, takesNull };
}
