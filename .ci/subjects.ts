/** The large metadata that measurements run with: a real export of 250 relations and 94 roles from a shared folder, and generated tables.
 *  Out: a Subject, its database, the environment of an engine over it. Not here: what is measured (size.ts, stalls.ts). */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';

export type Subject = {
  readonly name: string;
  readonly sql: Buffer | string;
  readonly metadata: Metadata;
  /** The relation that is untracked and tracked again for a measurement. */
  readonly table: { readonly schema: string; readonly name: string };
};
export type Metadata = {
  readonly sources: readonly {
    readonly tables: readonly {
      readonly table: { readonly schema: string; readonly name: string };
      readonly select_permissions?: readonly { readonly role: string }[];
    }[];
  }[];
};

export const SECRET = 'size';

/** Returns the real export in the folder `shared`. */
export function huge(shared: string): Subject {
  const from = resolve(shared, 'data/huge');
  if (!existsSync(from)) throw new Error(`no ${from}: name the folder with --shared, or --only generated`);
  const { args } = JSON.parse(readFileSync(join(from, 'replace_metadata.json'), 'utf8')) as { args: unknown };
  const metadata = ((args as { metadata?: Metadata }).metadata ?? args) as Metadata;
  const sql = gunzipSync(readFileSync(join(from, 'dump.sql.gz')));
  return { name: 'huge', sql, metadata, table: metadata.sources[0]!.tables[0]!.table };
}

/** Returns `count` tables that each refer to the previous one, with two relationships and a select permission for each of `roleCount`
 *  roles. */
export function generated(count: number, roleCount: number): Subject {
  const roles = Array.from({ length: roleCount }, (_, i) => `role_${i}`);
  const columns = ['id', 'title', 'owner', 'amount', 'details', 'created_at', 'previous_id'];
  const sql = Array.from(
    { length: count },
    (_, i) =>
      `create table t${i} (id int primary key, title text not null, owner text, amount numeric, details jsonb,
        created_at timestamptz default now(), previous_id int references t${Math.max(0, i - 1)});`,
  ).join('\n');
  const tables = Array.from({ length: count }, (_, i) => ({
    table: { schema: 'public', name: `t${i}` },
    object_relationships: [{ name: 'previous', using: { foreign_key_constraint_on: 'previous_id' } }],
    array_relationships:
      i + 1 < count
        ? [
            {
              name: 'next',
              using: {
                foreign_key_constraint_on: {
                  column: 'previous_id',
                  table: { schema: 'public', name: `t${i + 1}` },
                },
              },
            },
          ]
        : [],
    select_permissions: roles.map((role) => ({
      role,
      permission: { columns, filter: { owner: { _eq: 'X-Engine-User-Id' } } },
    })),
  }));
  const source = {
    name: 'default',
    kind: 'postgres',
    tables,
    configuration: { connection_info: { database_url: { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' } } },
  };
  const metadata = { version: 3, sources: [source] };
  return { name: `generated_${count}`, sql, metadata, table: { schema: 'public', name: `t${count - 1}` } };
}

/** Returns the subject with text in place of the types of PostGIS, for a Postgres without it. */
export function withoutPostgis(subject: Subject): Subject {
  const types = /"public"\."(geometry|geography)"(\([^)]*\))?/g;
  return { ...subject, sql: subject.sql.toString().replaceAll(types, 'text') };
}

/** Creates the database of a subject beside the one at `postgresUrl`, and returns the environment of an engine over it. */
export function environmentFor(
  subject: Subject,
  postgresUrl: string,
): Readonly<Record<string, string | undefined>> {
  return {
    ...process.env,
    ENGINE_GRAPHQL_DATABASE_URL: databaseFor(subject, postgresUrl),
    ENGINE_GRAPHQL_ADMIN_SECRET: SECRET,
    ENGINE_GRAPHQL_ENABLED_LOG_TYPES: 'startup',
  };
}

function databaseFor({ name, sql }: Subject, postgresUrl: string): string {
  psql(postgresUrl, `drop database if exists ${name} with (force)`);
  psql(postgresUrl, `create database ${name}`);
  const url = postgresUrl.replace(/postgres$/, name);
  psql(url, 'create extension if not exists postgis');
  psql(url, sql);
  return url;
}

function psql(url: string, input: Buffer | string): void {
  execFileSync('psql', ['-q', url], { input, stdio: ['pipe', 'ignore', 'ignore'] });
}

/** Returns the roles with a select permission. */
export function rolesOf(metadata: Metadata): Set<string> {
  const permissions = metadata.sources.flatMap((source) => source.tables).map((t) => t.select_permissions);
  return new Set(permissions.flatMap((rows) => rows ?? []).map((row) => row.role));
}
