/** Relationships of a Table or NativeQuery within its source: along a foreign key, or along given columns. The fields of `using` in the
 *  metadata are flattened here. Not here: relationships to other sources (remote-relationship.ts). */
import {
  InsertionOrder,
  type MetadataObject,
  type ObjectRelationship as MetadataRelationship,
  type NativeRelationship,
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
import { enumeration, metadataValue, pascalCase } from './enumeration.ts';
import { describeTableName, qualifiedName, SCHEMA_OF_TABLE, schemaField, tableFields } from './table-name.ts';

const TARGET = {
  schema: schemaField('the other table'),
  table: Type.Optional(withDescription('The other table or view.', Identifier)),
  nativeQuery: Type.Optional(
    withDescription('The name of a NativeQuery of the same source, instead of a table.', GraphqlName),
  ),
  columnMapping: withDescription(
    'The columns that must be equal: those of this side → those of the other, for example {author_id: id}.',
    Type.Record(Type.String(), Identifier, { minProperties: 1, maxProperties: 100 }),
  ),
};
const TARGET_RULES = [exactlyOne('manual', 'table', 'nativeQuery'), SCHEMA_OF_TABLE];

const Manual = withDescription(
  'A relationship along columns, for tables without a foreign key, views and native queries. Either this or foreignKey.',
  closed(
    {
      ...TARGET,
      insertionOrder: Type.Optional(
        withDescription(
          'When a nested insert writes the other row: before or after the row of this table. Absent: before for an object relationship.',
          enumeration(InsertionOrder),
        ),
      ),
    },
    ...TARGET_RULES,
  ),
);

const Columns = plainList(Identifier, 32);
const ONE_OF_TWO = {
  rule: 'has(self.foreignKey) != has(self.manual)',
  message: 'a relationship has either foreignKey or manual; name one of them',
  holds: (relationship: object) => 'foreignKey' in relationship !== 'manual' in relationship,
};

const Name = withDescription('The name of the field in the GraphQL schema.', GraphqlName);
const Description = Type.Optional(
  withDescription('The description of the field in the GraphQL schema.', Comment),
);

export const ObjectRelationship = closed(
  {
    name: Name,
    foreignKey: Type.Optional(
      withDescription(
        'A foreign key of this table, or, with `table`, one of another table that refers to this one and is unique. Either this or manual.',
        closed(
          {
            columns: withDescription('The columns of the foreign key, in the table that has it.', Columns),
            schema: schemaField('the other table'),
            table: Type.Optional(
              withDescription('The table that has the foreign key. Absent: this table has it.', Identifier),
            ),
          },
          SCHEMA_OF_TABLE,
        ),
      ),
    ),
    manual: Type.Optional(Manual),
    comment: Description,
  },
  ONE_OF_TWO,
);

export const ArrayRelationship = closed(
  {
    name: Name,
    foreignKey: Type.Optional(
      withDescription(
        'A foreign key of another table that refers to this one. Either this or manual.',
        closed({
          columns: withDescription('The columns of the foreign key, in the other table.', Columns),
          ...tableFields('The table that has the foreign key.', 'the other table'),
        }),
      ),
    ),
    manual: Type.Optional(Manual),
    comment: Description,
  },
  ONE_OF_TWO,
);
type Relationship = Static<typeof ObjectRelationship> | Static<typeof ArrayRelationship>;

/** A relationship of the rows that a native query returns. */
export const QueryRelationship = closed({
  name: withDescription('The name of the field. The logical model has a field of this name.', GraphqlName),
  manual: withDescription(
    'The other rows, and the columns that must be equal.',
    closed(TARGET, ...TARGET_RULES),
  ),
  comment: Description,
});
type QueryRelationship = Static<typeof QueryRelationship>;

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
          ...targetOf(manual),
          insertion_order: metadataValue(InsertionOrder, manual.insertionOrder),
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

/** Returns a relationship of a native query as the metadata has it. */
export function queryRelationshipOf({ name, manual, comment }: QueryRelationship): object {
  return { name, using: targetOf(manual), comment };
}

type Target = QueryRelationship['manual'];

function targetOf({ schema, table, nativeQuery, columnMapping }: Target): object {
  return {
    remote_table: table === undefined ? undefined : qualifiedName(schema, table),
    remote_native_query: nativeQuery,
    column_mapping: columnMapping,
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
  const order = manual?.insertion_order;
  return {
    name,
    foreignKey: Array.isArray(on)
      ? { columns: on }
      : on && { columns: on.columns, ...describeTableName(on.table) },
    manual: manual && {
      ...describeTarget(manual),
      insertionOrder: order ? pascalCase(order) : undefined,
    },
    comment,
  };
}

/** Returns the relationship of a spec, the inverse of `queryRelationshipOf`. */
export function describeQueryRelationship({ name, using, comment }: NativeRelationship): object {
  return { name, manual: describeTarget(using), comment };
}

function describeTarget(using: NativeRelationship['using']): object {
  return {
    ...(using.remote_table ? describeTableName(using.remote_table) : {}),
    nativeQuery: using.remote_native_query,
    columnMapping: using.column_mapping,
  };
}
