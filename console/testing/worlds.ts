/** The databases on which every page is opened: a music shop with rows, a model as large as those of big applications, and a thousand tables.
 *  PERGOLA_TEST_DATA names a folder with real ones, each a folder with `dump.sql.gz` and `replace_metadata.json`, which are used in addition.
 *  Out: for each the SQL, the tables of the metadata, and what the addresses of pages name. Not here: the pages (pages.ts). */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { replaceMetadata } from '../../testing/engine.ts';
import { type ConsoleWorld, startConsole } from './console.ts';

export type World = {
  readonly name: string;
  readonly isSmall?: boolean;
  readonly load: (databaseUrl: string) => void;
  readonly sql: string;
  readonly tables: readonly object[];
  /** Two roles to compare. */
  readonly roles: readonly [string, string];
  /** A table with relationships. */
  readonly table: { readonly schema: string; readonly name: string };
};

const manual = (name: string, to: string) => ({
  name,
  using: {
    manual_configuration: { remote_table: { schema: 'public', name: to }, column_mapping: { id: 'id' } },
  },
});
const own = { owner: { _eq: 'X-Engine-User-Id' } };
const range = (count: number) => Array.from({ length: count }, (_, i) => i);

/** Tables of a shop for music: the name, what its rows refer to, and other columns. */
const SHOP: readonly (readonly [name: string, refersTo: readonly string[], columns: string])[] = [
  ['artist', [], 'name text'],
  ['genre', [], 'name text'],
  ['album', ['artist'], 'title text'],
  ['track', ['album', 'genre'], 'name text, seconds int, price numeric'],
  ['playlist', [], 'name text'],
  ['entry', ['playlist', 'track'], 'position int'],
  ['employee', [], 'name text, hired_on date'],
  ['customer', ['employee'], 'name text, email text'],
  ['invoice', ['customer'], 'issued_at timestamptz, total numeric'],
  ['line', ['invoice', 'track'], 'quantity int'],
];

const MUSIC: World = {
  name: 'a music shop',
  isSmall: true,
  load: () => {},
  sql: SHOP.map(([name, to, columns]) => {
    const keys = to.map((each) => `${each}_id int references ${each}, `).join('');
    const rows = `insert into ${name} (id, owner${to.map((each) => `, ${each}_id`).join('')})
      select i, 'user' || i % 3${to.map(() => ', i').join('')} from generate_series(1, 60) i`;
    return `create table ${name} (id int primary key, owner text, ${keys}${columns}); ${rows}`;
  }).join(';'),
  tables: SHOP.map(([name, to]) => ({
    table: { schema: 'public', name },
    object_relationships: to.map((each) => ({
      name: each,
      using: { foreign_key_constraint_on: `${each}_id` },
    })),
    array_relationships: SHOP.filter(([, others]) => others.includes(name)).map(([other]) => ({
      name: `${other}_list`,
      using: {
        foreign_key_constraint_on: { table: { schema: 'public', name: other }, column: `${name}_id` },
      },
    })),
    select_permissions: ['customer', 'employee'].map((role) => ({
      role,
      permission: { columns: role === 'employee' ? '*' : ['id'], filter: role === 'employee' ? {} : own },
    })),
  })),
  roles: ['customer', 'employee'],
  table: { schema: 'public', name: 'track' },
};

const ROLES = 94;

/** 250 tables, 875 relationships, 94 roles and 4,750 permissions. */
const HUGE: World = {
  name: 'a huge model',
  load: () => {},
  sql: range(250)
    .map((i) => {
      const columns = range(20).map((column) => `column_number_${column} text`);
      return `create table table_number_${i} (id int primary key, owner text, ${columns.join(', ')})`;
    })
    .join(';'),
  tables: range(250).map((i) => ({
    table: { schema: 'public', name: `table_number_${i}` },
    object_relationships: [`parent`, ...(i % 2 === 0 ? ['origin'] : [])].map((name, at) =>
      manual(name, `table_number_${at === 0 ? Math.floor(i / 5) : (i * 7) % 250}`),
    ),
    array_relationships: [1, 2].map((at) => manual(`list_${at}`, `table_number_${(i * 3 + at) % 250}`)),
    select_permissions: range(19).map((at) => ({
      role: `role_${(i + at * 5) % ROLES}`,
      permission: {
        columns: ['id', 'owner', ...range(at + 1).map((column) => `column_number_${column}`)],
        filter: at % 2 === 0 ? own : {},
      },
    })),
  })),
  roles: ['role_0', 'role_1'],
  table: { schema: 'public', name: 'table_number_0' },
};

const THOUSAND: World = {
  name: 'a thousand tables',
  load: () => {},
  sql: range(1000)
    .map((i) => `create table t${i} (id int primary key, owner text)`)
    .join(';'),
  tables: range(1000).map((i) => ({
    table: { schema: 'public', name: `t${i}` },
    object_relationships: [manual('parent', `t${Math.floor(i / 3)}`), manual('root', 't0')],
    select_permissions: ['reader', 'other'].map((role) => ({
      role,
      permission: { columns: ['id'], filter: own },
    })),
  })),
  roles: ['reader', 'other'],
  table: { schema: 'public', name: 't0' },
};

export const WORLDS: readonly World[] = [
  MUSIC,
  HUGE,
  THOUSAND,
  ...realWorlds(process.env['PERGOLA_TEST_DATA']),
];

type RealTable = {
  readonly table: World['table'];
  readonly array_relationships?: readonly object[];
  readonly select_permissions?: readonly { readonly role: string }[];
};

function realWorlds(folder: string | undefined): readonly World[] {
  if (!folder) return [];
  const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'dump.sql.gz')));
  return names.map((name) => {
    const { args } = JSON.parse(readFileSync(join(folder, name, 'replace_metadata.json'), 'utf8'));
    const tables: readonly RealTable[] = args.metadata.sources[0].tables;
    const roles = new Set(tables.flatMap((table) => table.select_permissions?.map(({ role }) => role) ?? []));
    const [first = '', second = ''] = roles;
    const [central] = [...tables].sort((a, b) => relationshipsOf(b) - relationshipsOf(a));
    return {
      name: `${name} of PERGOLA_TEST_DATA`,
      load: (databaseUrl) => loadDump(join(folder, name, 'dump.sql.gz'), databaseUrl),
      sql: '',
      tables,
      roles: [first, second],
      table: central!.table,
    };
  });
}

function relationshipsOf({ array_relationships: relationships = [] }: RealTable): number {
  return relationships.length;
}

/** Dumps of Windows have a code page of Windows, and lose rows as UTF-8. Some of the dump's owners and extensions may be missing here. */
function loadDump(file: string, databaseUrl: string): void {
  const input = gunzipSync(readFileSync(file));
  const env = { ...process.env, PGCLIENTENCODING: 'WIN1252' };
  execFileSync('psql', ['-q', databaseUrl], { input, env, stdio: ['pipe', 'ignore', 'ignore'] });
}

/** Starts an engine on a database of the world. */
export async function startWorld({ load, sql, tables }: World): Promise<ConsoleWorld> {
  const world = await startConsole(sql);
  load(world.database.url);
  await world.engine.admin('reload_metadata', { reload_sources: true });
  const { status, body } = await replaceMetadata(world.engine, { tables });
  if (status !== 200) throw new Error(JSON.stringify(body).slice(0, 2000));
  return world;
}
