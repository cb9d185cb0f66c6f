/** Migration: versioned SQL for the database of a source. It has no object in the engine; the resources of the source wait for it.
 *  Not here: running it (../migrations), the rules of files (engine/migrate). */
import { objectKey, type Static, Type } from '@pergola/engine/metadata';
import { closed, exactlyOne, keyedList, MetadataName, Name, type Rule, withDescription } from './annotate.ts';
import { kindRow, READY_COLUMNS, specWithoutObjects } from './kind.ts';
import { ConfigMapKeyRef } from './value-source.ts';

const MOST_FILES = 500;

const MigrationFile = closed(
  {
    name: Type.String({
      pattern: '^[0-9]{1,18}_.+[.]sql$',
      maxLength: 253,
      description:
        'The version and a name, for example 20261123140000_add_isbn.sql. Versions run in the order of their numbers, each once.',
    }),
    sql: Type.Optional(
      withDescription(
        'The statements. They run in one transaction, unless the first line is "-- pergola: no-transaction".',
        Type.String({ minLength: 1, maxLength: 262_144 }),
      ),
    ),
    configMapKeyRef: Type.Optional(
      withDescription(
        'A key of a ConfigMap in the namespace of this resource that holds the statements.',
        ConfigMapKeyRef,
      ),
    ),
  },
  exactlyOne('a file', 'sql', 'configMapKeyRef'),
);

const FILES_OR_REF: Rule = exactlyOne('a Migration', 'files', 'configMapRef');

export const MigrationSpec = specWithoutObjects(
  {
    source: Type.Optional(
      withDescription('The name of the source in the engine. Absent: default.', MetadataName),
    ),
    files: Type.Optional(
      withDescription(
        'The migrations. One Migration has all files of a source. A file that has run must not change; it may be removed.',
        keyedList('name', MigrationFile, MOST_FILES),
      ),
    ),
    configMapRef: Type.Optional(
      withDescription(
        'A ConfigMap in the namespace of this resource: every key that ends in .sql is the name of a file.',
        closed({ name: withDescription('The name of the ConfigMap.', Name) }),
      ),
    ),
    lockTimeoutSeconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3600,
        description:
          'How long a statement waits for a lock of a table before its file is rolled back and tried again. Absent: 5.',
      }),
    ),
    allowOutOfOrder: Type.Optional(
      Type.Boolean({ description: 'Runs files below a version that is applied. Absent: false.' }),
    ),
    allowBreaking: Type.Optional(
      Type.Boolean({
        description:
          'Runs files after which objects that the engine serves do not fit the database. Absent: false, such a file is rolled back.',
      }),
    ),
  },
  FILES_OR_REF,
);
export type MigrationSpec = Static<typeof MigrationSpec>;

export const migration = kindRow({
  kind: 'Migration',
  plural: 'migrations',
  singular: 'migration',
  shortNames: ['gqlmig'],
  concerns: 'engine',
  description:
    'Versioned SQL for the database of a source, run once and in order before the resources of the source change.',
  spec: MigrationSpec,
  columns: [
    ...READY_COLUMNS,
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    {
      name: 'Message',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].message',
      priority: 1,
    },
  ],
  selectableFields: ['.spec.engineRef.name'],
  deletionPolicy: 'Retain',
  target: ({ source = 'default' }) => `migrations of source ${source}`,
  translate: ({ files = [] }, { valueFrom }) => {
    // A file that cannot be read is reported like a missing value of any other kind.
    for (const [i, { configMapKeyRef }] of files.entries()) {
      if (configMapKeyRef) valueFrom({ configMapKeyRef }, `spec.files[${i}]`);
    }
    return [];
  },
  governs: ({ source = 'default' }) => [
    { key: objectKey('source', source), kind: 'source', parent: null, definition: { name: source } },
  ],
  isMigration: true,
});
