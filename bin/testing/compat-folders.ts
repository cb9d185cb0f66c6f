/** Metadata directories for tests of `pergola compat`: six repositories of the reference, one with every object and member that the model has, and
 *  one with what the engine does not serve. Not here: what a test expects of them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { toDirectory } from '../../engine/metadata/directory.ts';
import { parseDocument } from '../../engine/metadata/parse.ts';
import { REPOSITORIES } from '../../engine/rules/testing/repositories.ts';
import { FULL } from '../../testing/metadata-variants.ts';

type Files = Readonly<Record<string, string>>;

/** A directory with every object. */
export const EVERY_OBJECT: Files = Object.fromEntries(toDirectory(parseDocument(FULL)));

/** A directory that the reference serves and the engine serves in part. */
export const UNSERVED: Files = {
  'version.yaml': 'version: 3\nchecksum: abc\n',
  'databases/databases.yaml': `- name: default
  kind: postgres
  configuration:
    connection_info:
      database_url: { from_env: DATABASE_URL }
  query_tags: { omit_request_id: false }
  stored_procedures:
    - stored_procedure: { name: recalculate, schema: public }
      returns: total
      configuration: { exposed_as: query }
  tables: "!include default/tables/tables.yaml"
- name: legacy
  kind: mssql
  configuration:
    connection_info: { connection_string: { from_env: MSSQL_URL } }
  tables:
    - table: { schema: dbo, name: invoice }
    - table: { schema: dbo, name: payment }
- name: store
  kind: bigquery
  configuration: {}
  tables: []
`,
  'databases/default/tables/tables.yaml': '- "!include public_note.yaml"\n- "!include public_tag.yaml"\n',
  'databases/default/tables/public_note.yaml': `table: { name: note, schema: public }
logical_model: note_model
select_permissions:
  - role: user
    permission:
      columns: [id, text]
      filter: { owner_id: { _eq: X-Hasura-User-Id } }
      masks: { text: hidden }
  - role: guest
    permission:
      columns: [id]
      filter: { published: { _eq: true } }
`,
  'databases/default/tables/public_tag.yaml': `table: { name: tag, schema: public }
select_permissions:
  - role: user
    permission: { columns: 7, filter: {} }
`,
  'databases/default/tables/notes.txt': 'this file belongs to nothing\n',
  'backend_configs.yaml': 'dataconnector:\n  athena:\n    uri: http://athena:8081\n',
  'metrics_config.yaml': 'analyze_query_variables: true\nanalyze_response_body: false\n',
  'remote_schemas.yaml': '- name: countries\n  definition: { url: "https://countries.example" }\n',
};

export const FOLDERS: Readonly<Record<string, Files>> = {
  ...REPOSITORIES,
  'every object': EVERY_OBJECT,
  unserved: UNSERVED,
};

/** Writes the files of a directory. */
export function writeFolder(folder: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}
