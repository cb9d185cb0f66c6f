/** Table: a tracked table or view with its names, relationships, and optionally its permissions.
 *  Not here: permission rules (permission.ts), relationships (relationship.ts), computed fields (computed-field.ts). */
import { Type } from '@pergola/engine/metadata';
import { Comment, closed, GraphqlName, Identifier, keyedList, MetadataName, plainList } from './annotate.ts';
import { ComputedFieldSpec } from './computed-field.ts';
import { kindRow, OBJECT_COLUMNS, specOf } from './kind.ts';
import { asRecord, inForm, optional, required } from './mapping.ts';
import { PERMISSION_RULES, permissionParts, SOME_OPERATION } from './permission.ts';
import { camelCase } from './project.ts';
import { ArrayRelationship, ObjectRelationship } from './relationship.ts';
import { printTarget, sourceField, tableFields, tableNamed } from './table-name.ts';

/** The root fields of a table in the metadata, with what each does. */
const ROOT_FIELDS = [
  ['select', 'reads rows'],
  ['select_by_pk', 'reads one row by its primary key'],
  ['select_aggregate', 'counts and aggregates rows'],
  ['select_stream', 'streams new rows in a subscription'],
  ['insert', 'inserts rows'],
  ['insert_one', 'inserts one row'],
  ['update', 'updates rows'],
  ['update_by_pk', 'updates one row by its primary key'],
  ['update_many', 'updates several sets of rows'],
  ['delete', 'deletes rows'],
  ['delete_by_pk', 'deletes one row by its primary key'],
] as const;

const RootField = inForm(
  closed({
    name: optional('The name of the root field. Absent: the name that the engine derives.', GraphqlName),
    comment: optional(
      'The description of the root field in the GraphQL schema. Absent: a generated one.',
      Comment,
    ),
  }),
  {
    write: (field) => (field.comment === undefined ? field.name : field),
    read: (field) => (typeof field === 'string' ? { name: field } : field),
  },
);

const Configuration = closed({
  customName: optional(
    'The name that the GraphQL names of the table begin with, for example Article. Absent: the name of the table, after its schema ' +
      'unless that is public.',
    GraphqlName,
  ),
  comment: optional(
    'The description of the type in the GraphQL schema. Absent: the comment in the database. Empty: none.',
    Comment,
  ),
  columns: optional(
    'Differences from the database, by column: names, comments and nullability. Absent: none.',
    asRecord(
      'name',
      keyedList(
        'name',
        closed({
          name: required('The name of the column in the database.', Identifier),
          customName: optional('The name of the field. Absent: the name of the column.', GraphqlName),
          comment: optional(
            'The description of the field. Absent: the comment in the database. Empty: none.',
            Comment,
          ),
          nullable: optional(
            'False: a column of a view that is never null. Absent: as the database says.',
            Type.Literal(false),
          ),
        }),
      ),
    ),
    'column_config',
  ),
  rootFields: optional(
    'Names and descriptions of root fields. Absent: those that the engine derives.',
    closed(
      Object.fromEntries(
        ROOT_FIELDS.map(([field, what]) => [
          camelCase(field),
          optional(`The root field that ${what}.`, RootField),
        ]),
      ),
    ),
    'custom_root_fields',
  ),
  conflictIndexes: optional(
    'Unique indexes, including partial ones, that `on_conflict` may name besides the constraints. Absent: none.',
    plainList(Identifier, 100),
  ),
});

export const TableSpec = specOf({
  source: sourceField('the table'),
  ...tableFields('The name of the table or view in the database.', 'table'),
  isEnum: optional(
    'True: the rows are the values of a GraphQL enum: the primary key is the value, a second text column its description. Absent: ' +
      'false.',
    Type.Boolean(),
  ),
  configuration: optional(
    'How the table appears in the GraphQL schema. Absent: as in the database.',
    Configuration,
  ),
  federation: optional(
    'Apollo Federation. Absent: the type is no entity.',
    inForm(
      closed({
        enabled: required(
          'True: other subgraphs may refer to the rows by their primary key.',
          Type.Boolean(),
        ),
      }),
      {
        write: ({ enabled }) => (enabled ? { enable: 'v1' } : undefined),
        read: () => ({ enabled: true }),
        isWhole: true,
      },
    ),
    'apollo_federation_config',
  ),
  objectRelationships: optional(
    'Fields that lead to one row of another table. A role has those whose table it reads.',
    keyedList('name', ObjectRelationship),
  ),
  arrayRelationships: optional(
    'Fields that lead to many rows of another table. A role has those whose table it reads.',
    keyedList('name', ArrayRelationship),
  ),
  computedFields: optional(
    'Fields that a function of the database computes.',
    keyedList('name', ComputedFieldSpec),
  ),
  permissions: optional(
    'What each role may do. A TablePermission can add roles, for another team. Absent: only administrators see the table.',
    keyedList(
      'role',
      closed(
        {
          role: required('The name of the role, for example editor.', MetadataName),
          ...PERMISSION_RULES,
        },
        SOME_OPERATION,
      ),
      500,
    ),
  ),
});

export const table = kindRow({
  kind: 'Table',
  shortNames: ['gqlt'],
  concerns: 'object',
  description: 'A tracked table or view.',
  spec: TableSpec,
  columns: [
    ...OBJECT_COLUMNS,
    { name: 'Source', type: 'string', jsonPath: '.spec.source', priority: 1 },
    {
      name: 'Distribution',
      type: 'string',
      jsonPath: '.status.distribution',
      description: 'How it is distributed over a Citus cluster.',
      priority: 1,
    },
  ],
  selectableFields: ['.spec.engineRef.name', '.spec.source'],
  target: (spec) => printTarget(spec.source, tableNamed(spec)),
  objects: [
    { kind: 'table', key: ['source', 'schema', 'table'] },
    { kind: 'object_relationship', at: 'objectRelationships', key: ['name'] },
    { kind: 'array_relationship', at: 'arrayRelationships', key: ['name'] },
    { kind: 'computed_field', at: 'computedFields', key: ['name'] },
    ...permissionParts(['role'], 'permissions'),
  ],
});
