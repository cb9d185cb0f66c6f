/** A small world for resolve's tests: catalogs and metadata written by hand, in few words.
 *  In: `tableIn('author', { id: 'int4!', name: 'text' }, { primaryKey: ['id'] })`; `!` is not null.
 *  Out: CatalogTable, and `resolveTables` from table entries of one source `default`. */
import { arrayOf, builtinType, type Catalog, type CatalogTable, type PgType } from '../../catalog/types.ts';
import { qualifiedKey } from '../../metadata/schema/common.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import type { Source, SourceCustomization } from '../../metadata/schema/source.ts';
import type { Table } from '../../metadata/schema/table.ts';
import type { ResolvedTable } from '../model/table.ts';
import { type Resolution, resolve } from '../resolve.ts';

type ForeignKey = readonly [columns: readonly string[], table: string, foreignColumns: readonly string[]];
type Rest = {
  readonly schema?: string;
  readonly kind?: CatalogTable['kind'];
  readonly primaryKey?: readonly string[];
  readonly unique?: readonly (readonly string[])[];
  readonly foreignKeys?: readonly ForeignKey[];
  readonly indexes?: CatalogTable['uniqueIndexes'];
  readonly isReadOnly?: boolean;
};

export function typeOf(name: string): PgType {
  return name.endsWith('[]') ? arrayOf(builtinType(name.slice(0, -2))) : builtinType(name);
}

export function tableIn(
  name: string,
  columns: Readonly<Record<string, string | Partial<CatalogTable['columns'][number]>>>,
  rest: Rest = {},
): CatalogTable {
  const schema = rest.schema ?? 'public';
  const plain = { hasDefault: false, identity: null, isGenerated: false, comment: null, isNullable: true };
  return {
    schema,
    name,
    oid: 1,
    kind: rest.kind ?? 'table',
    comment: null,
    columns: Object.entries(columns).map(([column, given], i) => ({
      ...plain,
      name: column,
      position: i + 1,
      ...(typeof given === 'string'
        ? { type: typeOf(given.replace('!', '')), isNullable: !given.endsWith('!') }
        : { type: builtinType('int4'), ...given }),
    })),
    primaryKey: rest.primaryKey
      ? { name: `${name}_pkey`, columns: rest.primaryKey, isConstraint: true }
      : null,
    uniqueKeys: (rest.unique ?? []).map((key) => ({
      name: `${name}_${key.join('_')}_key`,
      columns: key,
      isConstraint: true,
    })),
    uniqueIndexes: rest.indexes ?? [],
    foreignKeys: (rest.foreignKeys ?? []).map(([own, table, foreignColumns]) => ({
      name: `${name}_${own.join('_')}_fkey`,
      columns: own,
      table: { schema: 'public', name: table },
      foreignColumns,
    })),
    isInsertable: !rest.isReadOnly,
    isUpdatable: !rest.isReadOnly,
    isDeletable: !rest.isReadOnly,
  };
}

export function catalogOf(...tables: readonly CatalogTable[]): Catalog {
  return {
    serverVersion: 150000,
    tables: new Map(tables.map((table) => [qualifiedKey(table), table])),
    functions: new Map(),
    types: new Map(),
    preparedQueries: new Map(),
    reactions: { own: new Map(), writers: new Map() },
    enumRows: new Map(),
  };
}

/** The same catalog, with these rows read from enum tables of `public`: a value, or a value and its comment. */
export function withRows(
  catalog: Catalog,
  rows: Readonly<Record<string, readonly (string | readonly [string, string])[]>>,
): Catalog {
  const enumRows = Object.entries(rows).map(([name, values]) => {
    const read = values.map(
      (row) => (typeof row === 'string' ? [row, null] : row) as [string, string | null],
    );
    return [
      qualifiedKey({ schema: 'public', name }),
      read.map(([value, comment]) => ({ value, comment })),
    ] as const;
  });
  return { ...catalog, enumRows: new Map(enumRows) };
}

/** Authors write articles, read some, and may have a profile each. */
export const AUTHORS: Catalog = catalogOf(
  tableIn(
    'author',
    { id: 'int4!', name: 'text!', email: 'text', tags: 'text[]', meta: 'jsonb', joined: 'date' },
    { primaryKey: ['id'], unique: [['email']] },
  ),
  tableIn(
    'article',
    { id: 'int4!', title: 'text!', author_id: 'int4!', editor_id: 'int4', is_published: 'bool' },
    {
      primaryKey: ['id'],
      foreignKeys: [
        [['author_id'], 'author', ['id']],
        [['editor_id'], 'author', ['id']],
      ],
    },
  ),
  tableIn(
    'profile',
    { author_id: 'int4!', text: 'text' },
    { unique: [['author_id']], foreignKeys: [[['author_id'], 'author', ['id']]] },
  ),
);

export function metadataOf(tables: readonly Table[]): Metadata {
  const configuration = { connection_info: { database_url: 'postgres://example' } };
  return { version: 3, sources: [{ name: 'default', kind: 'postgres', configuration, tables: [...tables] }] };
}

/** Table entries by their name in `public`; an empty entry just tracks the table. */
export function resolveTables(
  entries: Readonly<Record<string, Partial<Table>>>,
  catalog: Catalog = AUTHORS,
  customization?: SourceCustomization,
  functions: Source['functions'] = [],
): Resolution & {
  readonly table: (name: string) => ResolvedTable;
  readonly reasons: readonly string[];
} {
  const tables = Object.entries(entries).map(
    ([name, entry]): Table => ({ table: { schema: 'public', name }, ...entry }),
  );
  const { sources, ...metadata } = metadataOf(tables);
  const customized = sources.map((source) => ({
    ...source,
    functions,
    ...(customization ? { customization } : {}),
  }));
  const resolution = resolve({ ...metadata, sources: customized }, new Map([['default', catalog]]), {
    stringifyNumericTypes: false,
    namingConvention: 'default',
  });
  const resolved = resolution.model.sources.get('default')!.tables;
  return {
    ...resolution,
    table: (name) => resolved.get(qualifiedKey({ schema: 'public', name }))!,
    reasons: resolution.inconsistencies.map(({ reason }) => reason),
  };
}
