/** The schema `hdb_catalog` with views of what the reference engine has there: SQL of projects reads its event log and writes its scheduled
 *  events. It is created on request, and never where a reference engine has its own. It has no tables of metadata and of migrations, so
 *  no command takes it for that of a reference engine.
 *  In: a connection to the database of a source or of the metadata. Not here: when it is created (admin/reference-catalogs.ts), reading the
 *  catalog of a reference engine (store/foreign-catalog.ts). Reference: docs/reference/behaviour/event-triggers.md, "hdb_catalog". */
import { readFileSync } from 'node:fs';
import type { ClientBase } from 'pg';
import { createLog } from './event-log.ts';

const textOf = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');
const VIEWS = {
  source: textOf('./reference-catalog-source.sql'),
  metadata: textOf('./reference-catalog-metadata.sql'),
};

/** The comment of the schema, by which it is recognised. */
const COMMENT = 'Views of Pergola under the names of the reference engine.';
/** An arbitrary key that no other program locks. */
const ADVISORY_LOCK = '6231907745530081199';

/** Creates the schema, or adds the views of one part. Returns false where a reference engine has its own schema. */
export async function createReferenceCatalog(client: ClientBase, part: keyof typeof VIEWS): Promise<boolean> {
  await client.query('begin');
  try {
    await client.query('select pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
    const isOurs = await preparedSchema(client);
    if (isOurs) {
      if (part === 'source') await createLog(client);
      await client.query(VIEWS[part]);
    }
    await client.query('commit');
    return isOurs;
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}

async function preparedSchema(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query(
    `select to_regnamespace('hdb_catalog') is not null as found,
            obj_description(to_regnamespace('hdb_catalog')::oid, 'pg_namespace') as comment`,
  );
  if (rows[0].found) return rows[0].comment === COMMENT;
  await client.query(`create schema hdb_catalog; comment on schema hdb_catalog is '${COMMENT}'`);
  return true;
}
