/** Migration: versioned SQL for the database of a source. It has no object in the engine; the resources of the source wait for it.
 *  Not here: running it (../migrations), the rules of files (engine/migrate). */
import { objectKey, type Static, secret, Type } from '@pergola/engine/metadata';
import { closed, exactlyOne, keyedList, MetadataName, Name, type Rule, withDescription } from './annotate.ts';
import { kindRow, READY_COLUMNS, specWithoutObjects } from './kind.ts';
import { optional, required } from './mapping.ts';
import { ConfigMapKeyRef, KEY_REF } from './value-source.ts';

const MOST_FILES = 500;

/** A host in lower case, with a port if it has one, and the name of a repository as the distribution specification has it. */
const REPOSITORY = '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+((\\.|_|__|-+)[a-z0-9]+)*)+$';

const MigrationFile = closed(
  {
    name: required(
      'The version and a name, for example 20261123140000_add_isbn.sql. Versions run in the order of their numbers, each once.',
      Type.String({ pattern: '^[0-9]{1,18}_.+[.]sql$', maxLength: 253 }),
    ),
    sql: optional(
      'The statements. They run in one transaction, unless the first line is "-- pergola: no-transaction".',
      // Statements may set the passwords of roles.
      secret(Type.String({ minLength: 1, maxLength: 262_144 })),
    ),
    configMapKeyRef: optional(
      'A key of a ConfigMap in the namespace of this resource that holds the statements.',
      ConfigMapKeyRef,
    ),
  },
  exactlyOne('a file', 'sql', 'configMapKeyRef'),
);

const CertificateAuthority = closed(
  {
    value: optional('The certificates themselves, in PEM.', Type.String({ minLength: 1, maxLength: 65_536 })),
    secretKeyRef: optional('A key of a Secret in the namespace of this resource.', KEY_REF),
    configMapKeyRef: Type.Optional(ConfigMapKeyRef),
  },
  exactlyOne('ca', 'value', 'secretKeyRef', 'configMapKeyRef'),
);

const OciArtifact = closed(
  {
    repository: required(
      'The host of the registry, with its port if it has one, and the name of the repository, for example ghcr.io/acme/library-migrations.',
      Type.String({ pattern: REPOSITORY, maxLength: 512 }),
    ),
    tag: optional(
      'A tag, for example v1.4.0. The operator looks at intervals whether it has moved; polling.fullResyncMinutes of the Engine.',
      Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$', maxLength: 128 }),
    ),
    digest: optional(
      'The digest of the manifest, for example sha256:9f86d0… The content can then not change.',
      Type.String({ pattern: '^(sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128})$', maxLength: 135 }),
    ),
    path: optional(
      'The folder of the migrations in the artifact, for example migrations/default. Absent: its top.',
      Type.String({ minLength: 1, maxLength: 1024 }),
    ),
    secretRef: optional(
      'A Secret of type kubernetes.io/dockerconfigjson in the namespace of this resource, with the credentials for the registry. ' +
        'Absent: requests are anonymous.',
      closed({ name: withDescription('The name of the Secret.', Name) }),
    ),
    ca: optional(
      'The certificates of the authority of the registry, in PEM. Absent: those that the operator knows.',
      CertificateAuthority,
    ),
    plainHttp: optional(
      'Requests the registry without TLS. Everyone on the way can read the credentials; the digest of a tag can be forged. Absent: false.',
      Type.Boolean(),
    ),
  },
  exactlyOne('ociArtifact', 'tag', 'digest'),
);

const FILES_OR_REF: Rule = exactlyOne('a Migration', 'files', 'configMapRef', 'ociArtifact');

export const MigrationSpec = specWithoutObjects(
  {
    source: optional('The name of the source in the engine. Absent: default.', MetadataName),
    files: optional(
      'The migrations. One Migration has all files of a source. A file that has run must not change; it may be removed.',
      keyedList('name', MigrationFile, MOST_FILES),
    ),
    configMapRef: optional(
      'A ConfigMap in the namespace of this resource: every key that ends in .sql is the name of a file.',
      closed({ name: withDescription('The name of the ConfigMap.', Name) }),
    ),
    ociArtifact: optional(
      'An artifact in an OCI registry that has the files: an archive, as flux push artifact writes it, or one file in each layer, as ' +
        'oras push writes them. The operator downloads it.',
      OciArtifact,
    ),
    sha256: optional(
      'The digest of all files, as sha256sum *.sql | sha256sum prints it in their folder. Other files do not run. New files from a ' +
        'ConfigMap need it, unless allowConfigMapChanges is true. In folder mode it is compared, and not required.',
      Type.String({ pattern: '^[a-f0-9]{64}$', maxLength: 64 }),
    ),
    allowConfigMapChanges: optional(
      'Runs new files from ConfigMaps without sha256. Everyone who may edit ConfigMaps of the namespace can then run any SQL as the ' +
        'database user of the source. Absent: false.',
      Type.Boolean(),
    ),
    lockTimeoutSeconds: optional(
      'How long a statement waits for a lock of a table before its file is rolled back and tried again. Absent: 5.',
      Type.Integer({ minimum: 1, maximum: 3600 }),
    ),
    allowOutOfOrder: optional('Runs files below a version that is applied. Absent: false.', Type.Boolean()),
    allowBreaking: optional(
      'Runs files after which objects that the engine serves do not fit the database. Absent: false, such a file is rolled back.',
      Type.Boolean(),
    ),
  },
  FILES_OR_REF,
);
export type MigrationSpec = Static<typeof MigrationSpec>;

/** The field of a governed source that names the registry of its Migration. No source of the metadata has it. */
export const REGISTRY = 'artifact_registry';

/** Returns the host of the registry, with its port if it has one: `ghcr.io`, `registry.example.com:5000`. */
function registryOf({ repository }: { readonly repository: string }): string {
  return repository.split('/', 1)[0]!;
}

export const migration = kindRow({
  kind: 'Migration',
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
  governs: ({ source = 'default', ociArtifact }) => [
    {
      key: objectKey('source', source),
      kind: 'source',
      parent: null,
      // The grants must cover the registry as well: the operator sends requests to it.
      definition: { name: source, ...(ociArtifact ? { [REGISTRY]: registryOf(ociArtifact) } : {}) },
    },
  ],
  purpose: 'migration',
  contentOf: ({ configMapRef, ociArtifact }) => (ociArtifact ? 'artifact' : configMapRef && 'config-map'),
});
