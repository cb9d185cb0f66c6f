/** Relationships of a Table or NativeQuery within its source: along a foreign key, or along given columns. The fields of `using` in the
 *  metadata are flattened here. Not here: relationships to other sources (remote-relationship.ts). */
import { InsertionOrder, type TSchema, Type } from '@pergola/engine/metadata';
import {
  Comment,
  closed,
  exactlyOne,
  GraphqlName,
  Identifier,
  plainList,
  withDescription,
} from './annotate.ts';
import { enumeration } from './enumeration.ts';
import { inForm, mappedTo, optional, required } from './mapping.ts';
import { optionalTable, SCHEMA_OF_TABLE, tableFields } from './table-name.ts';

const TARGET = {
  ...optionalTable('The other table or view.', 'remote_table', 'the other table'),
  nativeQuery: optional(
    'The name of a NativeQuery of the same source, instead of a table.',
    GraphqlName,
    'remote_native_query',
  ),
  columnMapping: required(
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
      insertionOrder: optional(
        'When a nested insert writes the other row: before or after the row of this table. Absent: before for an object relationship.',
        enumeration(InsertionOrder),
      ),
    },
    ...TARGET_RULES,
  ),
);

const FOREIGN_KEY = 'using.foreign_key_constraint_on';
const Columns = plainList(Identifier, 32);
const ONE_OF_TWO = {
  rule: 'has(self.foreignKey) != has(self.manual)',
  message: 'a relationship has either foreignKey or manual; name one of them',
  holds: (relationship: object) => 'foreignKey' in relationship !== 'manual' in relationship,
};

/** The form of a foreign key: the columns of this table, or the other table that has it, with its columns. */
function asForeignKey<T extends TSchema>(schema: T): T {
  return inForm(schema, {
    write: (key) => (key.table === undefined ? key.columns : key),
    read: (key) => (Array.isArray(key) ? { columns: key } : key),
  });
}

const Name = withDescription('The name of the field in the GraphQL schema.', GraphqlName);
const Description = optional('The description of the field in the GraphQL schema.', Comment);

export const ObjectRelationship = closed(
  {
    name: Name,
    foreignKey: optional(
      'A foreign key of this table, or, with `table`, one of another table that refers to this one and is unique. Either this or manual.',
      asForeignKey(
        closed(
          {
            columns: required('The columns of the foreign key, in the table that has it.', Columns),
            ...optionalTable(
              'The table that has the foreign key. Absent: this table has it.',
              'table',
              'the other table',
            ),
          },
          SCHEMA_OF_TABLE,
        ),
      ),
      FOREIGN_KEY,
    ),
    manual: Type.Optional(mappedTo('using.manual_configuration', Manual)),
    comment: Description,
  },
  ONE_OF_TWO,
);

export const ArrayRelationship = closed(
  {
    name: Name,
    foreignKey: optional(
      'A foreign key of another table that refers to this one. Either this or manual.',
      closed({
        columns: required('The columns of the foreign key, in the other table.', Columns),
        ...tableFields('The table that has the foreign key.', 'table', 'the other table'),
      }),
      FOREIGN_KEY,
    ),
    manual: Type.Optional(mappedTo('using.manual_configuration', Manual)),
    comment: Description,
  },
  ONE_OF_TWO,
);
/** A relationship of the rows that a native query returns. */
export const QueryRelationship = closed({
  name: required('The name of the field. The logical model has a field of this name.', GraphqlName),
  manual: required(
    'The other rows, and the columns that must be equal.',
    closed(TARGET, ...TARGET_RULES),
    'using',
  ),
  comment: Description,
});
