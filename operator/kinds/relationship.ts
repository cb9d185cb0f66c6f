/** Relationships of a Table within its source: along a foreign key, or along given columns. The fields of `using` in the metadata are
 *  flattened here. Not here: relationships to other sources (remote-relationship.ts). */
import {
  type MetadataObject,
  type ObjectRelationship as MetadataRelationship,
  objectKey,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import {
  Comment,
  closed,
  exactlyOne,
  GraphqlName,
  Identifier,
  plainList,
  withDescription,
} from './annotate.ts';
import { describeTableName, qualifiedName, SCHEMA_OF_TABLE, schemaField, tableFields } from './table-name.ts';

const Manual = closed(
  {
    schema: schemaField('the other table'),
    table: Type.Optional(withDescription('The other table.', Identifier)),
    nativeQuery: Type.Optional(GraphqlName),
    columnMapping: withDescription(
      'Columns of this table → columns of the other.',
      Type.Record(Type.String(), Identifier, { minProperties: 1, maxProperties: 100 }),
    ),
    insertionOrder: Type.Optional(Type.Union([Type.Literal('before_parent'), Type.Literal('after_parent')])),
  },
  exactlyOne('manual', 'table', 'nativeQuery'),
  SCHEMA_OF_TABLE,
);

const columns = plainList(Identifier, 32);
const ONE_OF_TWO = {
  rule: 'has(self.foreignKey) != has(self.manual)',
  message: 'a relationship has either foreignKey or manual; name one of them',
  holds: (relationship: object) => 'foreignKey' in relationship !== 'manual' in relationship,
};

export const ObjectRelationship = closed(
  {
    name: GraphqlName,
    foreignKey: Type.Optional(
      withDescription(
        'The foreign key columns of this table, or, with `table`, those of the other table.',
        closed(
          {
            columns,
            schema: schemaField('the other table'),
            table: Type.Optional(withDescription('The other table.', Identifier)),
          },
          SCHEMA_OF_TABLE,
        ),
      ),
    ),
    manual: Type.Optional(Manual),
    comment: Type.Optional(Comment),
  },
  ONE_OF_TWO,
);

export const ArrayRelationship = closed(
  {
    name: GraphqlName,
    foreignKey: Type.Optional(
      withDescription(
        'The foreign key columns of the other table.',
        closed({ columns, ...tableFields('The other table.', 'the other table') }),
      ),
    ),
    manual: Type.Optional(Manual),
    comment: Type.Optional(Comment),
  },
  ONE_OF_TWO,
);
type Relationship = Static<typeof ObjectRelationship> | Static<typeof ArrayRelationship>;

/** The source and the name of a table, as the metadata has them. */
export type TableOfSource = {
  readonly source: string;
  readonly table: { readonly schema: string; readonly name: string };
};

export function relationshipObject(
  kind: 'object_relationship' | 'array_relationship',
  { source, table }: TableOfSource,
  { name, foreignKey, manual, comment }: Relationship,
): MetadataObject {
  const using = manual
    ? {
        manual_configuration: {
          remote_table: manual.table === undefined ? undefined : qualifiedName(manual.schema, manual.table),
          remote_native_query: manual.nativeQuery,
          column_mapping: manual.columnMapping,
          insertion_order: manual.insertionOrder,
        },
      }
    : { foreign_key_constraint_on: foreignKey && foreignKeyOf(foreignKey) };
  return {
    key: objectKey(kind, source, table.schema, table.name, name),
    kind,
    parent: objectKey('table', source, table.schema, table.name),
    definition: { name, using, comment },
  };
}

/** Returns the columns of the own table, or the table that has the foreign key, with its columns. */
function foreignKeyOf({ columns, schema, table }: NonNullable<Relationship['foreignKey']>): unknown {
  return table === undefined ? columns : { table: qualifiedName(schema, table), columns };
}

/** Returns the relationship of a spec, the inverse of `relationshipObject`. */
export function describeRelationship({ definition }: MetadataObject): object {
  const { name, using, comment } = definition as MetadataRelationship;
  const { foreign_key_constraint_on: on, manual_configuration: manual } = using;
  return {
    name,
    foreignKey: Array.isArray(on)
      ? { columns: on }
      : on && { columns: on.columns, ...describeTableName(on.table) },
    manual: manual && {
      ...(manual.remote_table ? describeTableName(manual.remote_table) : {}),
      nativeQuery: manual.remote_native_query,
      columnMapping: manual.column_mapping,
      insertionOrder: manual.insertion_order,
    },
    comment,
  };
}
