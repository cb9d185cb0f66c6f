/** Relationships of a Table, within its source: along a foreign key, or along columns the resource names. The metadata's `using`
 *  is spread out here. Not here: relationships that leave the source (remote-relationship.ts). */
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
import { TableName } from './permission.ts';

const Manual = closed(
  {
    table: Type.Optional(TableName),
    nativeQuery: Type.Optional(GraphqlName),
    columnMapping: withDescription(
      'Column of this table → column of the other.',
      Type.Record(Type.String(), Identifier, { minProperties: 1, maxProperties: 100 }),
    ),
    insertionOrder: Type.Optional(Type.Union([Type.Literal('before_parent'), Type.Literal('after_parent')])),
  },
  exactlyOne('manual', 'table', 'nativeQuery'),
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
        'Own columns that refer to the other table; with `table`, columns of that table that refer here.',
        closed({ columns, table: Type.Optional(TableName) }),
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
      withDescription('Columns of the other table that refer here.', closed({ columns, table: TableName })),
    ),
    manual: Type.Optional(Manual),
    comment: Type.Optional(Comment),
  },
  ONE_OF_TWO,
);
type Relationship = Static<typeof ObjectRelationship> | Static<typeof ArrayRelationship>;

type TableOfSource = { readonly source: string; readonly table: Static<typeof TableName> };

export function relationshipObject(
  kind: 'object_relationship' | 'array_relationship',
  { source, table }: TableOfSource,
  { name, foreignKey, manual, comment }: Relationship,
): MetadataObject {
  const using = manual
    ? {
        manual_configuration: {
          remote_table: manual.table,
          remote_native_query: manual.nativeQuery,
          column_mapping: manual.columnMapping,
          insertion_order: manual.insertionOrder,
        },
      }
    : { foreign_key_constraint_on: foreignKey?.table ? foreignKey : foreignKey?.columns };
  return {
    key: objectKey(kind, source, table.schema, table.name, name),
    kind,
    parent: objectKey('table', source, table.schema, table.name),
    definition: { name, using, comment },
  };
}

/** The inverse of `relationshipObject`. */
export function describeRelationship({ definition }: MetadataObject): object {
  const { name, using, comment } = definition as MetadataRelationship;
  const { foreign_key_constraint_on: on, manual_configuration: manual } = using;
  return {
    name,
    foreignKey: Array.isArray(on) ? { columns: on } : on,
    manual: manual && {
      table: manual.remote_table,
      nativeQuery: manual.remote_native_query,
      columnMapping: manual.column_mapping,
      insertionOrder: manual.insertion_order,
    },
    comment,
  };
}
