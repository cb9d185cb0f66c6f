/** Introspects a Postgres database with one statement (introspect.sql) that returns one row of JSON, and a Citus cluster with one more.
 *  In: anything with `query`. Out: an immutable Catalog (types.ts) with fingerprints (fingerprint.ts). Works on PostgreSQL 13 to 18.
 *  The row is compact: it has lists instead of objects, and oids and attnums instead of names, which are looked up here.
 *  Not here: the rows of enum tables (enum-rows.ts), tracked tables (resolve/), when to introspect again (state/state.ts). */
import { readFileSync } from 'node:fs';
import { type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';
import { finish, flatMapped, type Steps } from '../metadata/steps.ts';
import { distributionsOf, type ReadDistributions, type ShardReader } from './distribution.ts';
import { fingerprintsOf, withDistribution } from './fingerprint.ts';
import type {
  Catalog,
  CatalogArgument,
  CatalogColumn,
  CatalogForeignKey,
  CatalogFunction,
  CatalogKey,
  CatalogTable,
  PgType,
} from './types.ts';

/** A connection that can be introspected: `pg.Client`, `pg.Pool` or Database (database/pool.ts). */
export type Introspectable = {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
};

type Oid = number;

/** The row of introspect.sql, which documents the meaning of each list. */
type Row = {
  readonly serverVersion: number;
  readonly hasCitus: boolean;
  readonly reactions: readonly [Oid, boolean][];
  readonly writes: readonly [Oid, Oid, boolean][];
  readonly tables: readonly [Oid, string, string, string, number, string | null][];
  readonly columns: readonly RawColumns[];
  readonly columnComments: readonly [Oid, number, string][];
  readonly keys: readonly [Oid, string, readonly number[], boolean, boolean][];
  readonly indexes: readonly [Oid, string, readonly string[], string | null][];
  readonly foreignKeys: readonly [Oid, string, readonly number[], Oid, readonly number[]][];
  readonly types: readonly RawType[];
  readonly equalities: readonly (readonly [Oid, Oid, string])[];
  readonly functions: readonly RawFunction[];
};
type RawColumns = [
  table: Oid,
  positions: readonly number[],
  names: readonly string[],
  types: readonly Oid[],
  flags: readonly number[],
];
type RawType = [Oid, string, string, string, Oid | null, Oid, boolean, boolean, Oid];
type RawFunction = [
  oid: Oid,
  schema: string,
  name: string,
  volatility: string,
  returnsSet: boolean,
  returnType: Oid,
  isVariadic: boolean,
  argumentTypes: readonly Oid[],
  names: readonly string[] | null,
  modes: readonly string[] | null,
  defaults: number,
  comment: string | null,
];

const STATEMENT = readFileSync(new URL('./introspect.sql', import.meta.url), 'utf8');

const TABLE_KINDS: Readonly<Record<string, CatalogTable['kind']>> = {
  r: 'table',
  p: 'partitioned table',
  v: 'view',
  m: 'materialized view',
  f: 'foreign table',
};
const TYPE_KINDS: Readonly<Record<string, PgType['kind']>> = {
  b: 'base',
  c: 'composite',
  d: 'domain',
  e: 'enum',
  m: 'multirange',
  p: 'pseudo',
  r: 'range',
};
const VOLATILITIES: Readonly<Record<string, CatalogFunction['volatility']>> = {
  i: 'immutable',
  s: 'stable',
  v: 'volatile',
};
const ARGUMENT_MODES: Readonly<Record<string, CatalogArgument['mode']>> = {
  i: 'in',
  o: 'out',
  b: 'inout',
  v: 'variadic',
  t: 'table',
};
/** The bits of pg_relation_is_updatable: 1 << CmdType. */
const UPDATES = 4;
const INSERTS = 8;
const DELETES = 16;
/** The bit of a table that other tables inherit from. */
const IS_PARENT = 32;

/** Reads the catalog. `run` runs long steps; by default at once. Raises what the client raises, for example when the database is unreachable. */
export async function introspect(
  client: Introspectable,
  run: <T>(steps: Steps<T>) => Promise<T> = async (steps) => finish(steps),
): Promise<Catalog> {
  // First the fingerprints: what changes in between is then noticed by the next check.
  const prints = await fingerprintsOf(client);
  const { rows } = await client.query(STATEMENT);
  const row = await run(readRow((rows[0] as { catalog: string }).catalog));
  const fingerprints = row.hasCitus ? await withDistribution(prints, client) : prints;
  const distributions = row.hasCitus ? await distributionsOf(client) : NOT_DISTRIBUTED;
  return { ...(await run(readCatalog(row, distributions))), fingerprints };
}

const NOT_DISTRIBUTED: ReadDistributions = {
  tables: new Map(),
  local: new Set(),
  views: new Set(),
  functions: new Map(),
};

function* readRow(text: string): Steps<Row> {
  const row = JSON.parse(text) as Row;
  yield;
  return row;
}

function* readCatalog(row: Row, distributions: ReadDistributions): Steps<Omit<Catalog, 'fingerprints'>> {
  const types = typesOf(row);
  const names = new Map<Oid, QualifiedName>(row.tables.map(([oid, schema, name]) => [oid, { schema, name }]));
  return {
    serverVersion: row.serverVersion,
    ...(row.hasCitus ? { hasCitus: true as const } : {}),
    reactions: reactionsOf(row, names),
    tables: yield* tablesOf(row, { types, names, distributions }),
    functions: functionsOf(row.functions, types, names, distributions.functions),
    types: valueTypes(types),
    preparedQueries: new Map(),
    enumRows: new Map(),
  };
}

function reactionsOf(
  { reactions, writes }: Pick<Row, 'reactions' | 'writes'>,
  names: ReadonlyMap<Oid, QualifiedName>,
): Catalog['reactions'] {
  const keyOf = (oid: Oid) => qualifiedKey(names.get(oid)!);
  return {
    own: new Map(reactions.map(([table, isDuring]) => [keyOf(table), isDuring ? 'during' : 'after'])),
    writers: Map.groupBy(
      writes.map(([writer, written, isPart]) => ({ writer: keyOf(writer), written: keyOf(written), isPart })),
      ({ written }) => written,
    ),
  };
}

type Types = ReadonlyMap<Oid, ReadType>;
type ReadType = {
  readonly type: PgType;
  /** True when the domain, or a domain it is based on, is not null. */
  readonly isNotNull: boolean;
  readonly hasDefault: boolean;
  readonly rowsOf: Oid;
};

function typesOf({ types: rows, equalities }: Pick<Row, 'types' | 'equalities'>): Types {
  const raw = new Map(rows.map((row) => [row[0], row]));
  const equalitiesOf = Map.groupBy(equalities, ([type]) => type);
  const operatorsOf = (oid: Oid): Pick<PgType, 'operators'> => {
    const listed = equalitiesOf.get(oid)?.map(([, other, schema]): [string, string] => {
      const [, otherSchema, name] = raw.get(other)!;
      return [qualifiedKey({ schema: otherSchema, name }), schema];
    });
    return listed ? { operators: Object.fromEntries(listed) } : {};
  };
  const read = new Map<Oid, ReadType>();
  const typeOf = (oid: Oid): ReadType => {
    const known = read.get(oid);
    if (known) return known;
    const [, schema, name, kind, elementOid, baseOid, isNotNull, hasDefault, rowsOf] = raw.get(oid)!;
    const under = baseOid ? typeOf(baseOid) : null;
    const type: PgType = {
      schema,
      name,
      kind: TYPE_KINDS[kind] ?? 'base',
      element: elementOid ? typeOf(elementOid).type : null,
      // A domain over a domain stands for what the innermost one stands for.
      base: under ? (under.type.base ?? under.type) : null,
      ...operatorsOf(oid),
    };
    const result = {
      type,
      isNotNull: isNotNull || (under?.isNotNull ?? false),
      hasDefault: hasDefault || (under?.hasDefault ?? false),
      rowsOf,
    };
    read.set(oid, result);
    return result;
  };
  for (const oid of raw.keys()) typeOf(oid);
  return read;
}

function valueTypes(types: Types): Catalog['types'] {
  const values = [...types.values()].map(({ type }) => type);
  const isValue = ({ kind }: PgType) => kind !== 'composite' && kind !== 'pseudo';
  return new Map(values.filter(isValue).map((type) => [qualifiedKey(type), type]));
}

type TableParts = {
  readonly types: Types;
  readonly names: ReadonlyMap<Oid, QualifiedName>;
  readonly distributions: ReadDistributions;
};

function* tablesOf(
  row: Row,
  { types, names, distributions }: TableParts,
): Steps<ReadonlyMap<string, CatalogTable>> {
  const columnsOf = new Map(row.columns.map((columns) => [columns[0], columns]));
  const comments = new Map(
    row.columnComments.map(([table, position, text]) => [`${table} ${position}`, text]),
  );
  const keysOf = Map.groupBy(row.keys, ([table]) => table);
  const indexesOf = Map.groupBy(row.indexes, ([table]) => table);
  const foreignKeysOf = Map.groupBy(row.foreignKeys, ([table]) => table);
  const nameOf = (table: Oid, position: number): string => {
    const columns = columnsOf.get(table)!;
    return columns[2][columns[1].indexOf(position)]!;
  };
  return new Map(
    yield* flatMapped(row.tables, ([oid, schema, name, letter, flags, comment]): [string, CatalogTable][] => {
      const distribution = distributions.tables.get(oid);
      const operations = distributions.views.has(oid) ? 0 : flags;
      const kind = TABLE_KINDS[letter]!;
      const keys = (isPrimary: boolean): readonly CatalogKey[] =>
        (keysOf.get(oid) ?? [])
          .filter((key) => key[3] === isPrimary)
          .map(([, keyName, positions, , isConstraint]) => ({
            name: keyName,
            columns: positions.map((position) => nameOf(oid, position)),
            isConstraint,
          }));
      const table: CatalogTable = {
        schema,
        name,
        oid,
        kind,
        comment,
        columns: readColumns(columnsOf.get(oid), kind, types, comments),
        primaryKey: keys(true)[0] ?? null,
        uniqueKeys: keys(false),
        uniqueIndexes: (indexesOf.get(oid) ?? []).map(([, indexName, on, where]) => ({
          name: indexName,
          on,
          where,
        })),
        foreignKeys: (foreignKeysOf.get(oid) ?? []).flatMap(
          ([, keyName, own, foreign, others]): CatalogForeignKey[] => {
            const target = names.get(foreign);
            if (!target) return [];
            return [
              {
                name: keyName,
                columns: own.map((position) => nameOf(oid, position)),
                table: target,
                foreignColumns: others.map((position) => nameOf(foreign, position)),
              },
            ];
          },
        ),
        isInsertable: (operations & INSERTS) !== 0,
        isUpdatable: (operations & UPDATES) !== 0,
        isDeletable: (operations & DELETES) !== 0,
        ...((flags & IS_PARENT) !== 0 ? { isParent: true } : {}),
        ...(distribution ? { distribution } : {}),
        ...(distributions.local.has(oid) ? { isLocalInCluster: true } : {}),
      };
      return [[qualifiedKey(table), table]];
    }),
  );
}

function readColumns(
  raw: RawColumns | undefined,
  kind: CatalogTable['kind'],
  types: Types,
  comments: ReadonlyMap<string, string>,
): readonly CatalogColumn[] {
  // A table may have no columns at all.
  if (!raw) return [];
  const [table, positions, names, typeOids, flags] = raw;
  const isView = kind === 'view' || kind === 'materialized view';
  const columns = positions.map((position, i): CatalogColumn => {
    const read = types.get(typeOids[i]!)!;
    const flag = flags[i]!;
    const isGenerated = (flag & 16) !== 0;
    const identity = flag & 8 ? 'always' : flag & 4 ? 'by default' : null;
    return {
      name: names[i]!,
      position,
      type: read.type,
      // An outer join inside a view can make null even of a domain that forbids it.
      isNullable: isView || ((flag & 1) === 0 && !read.isNotNull),
      hasDefault: (flag & 2) !== 0 || identity !== null || (read.hasDefault && !isGenerated),
      identity,
      isGenerated,
      ...((flag & 32) !== 0 ? { isComputed: true } : {}),
      comment: comments.get(`${table} ${position}`) ?? null,
    };
  });
  return columns.sort((left, right) => left.position - right.position);
}

function functionsOf(
  rows: Row['functions'],
  types: Types,
  names: ReadonlyMap<Oid, QualifiedName>,
  readers: ReadonlyMap<Oid, ShardReader>,
): ReadonlyMap<string, readonly CatalogFunction[]> {
  const functions = rows.map((row): CatalogFunction => {
    const [oid, schema, name, volatility, returnsSet, returnOid, hasVariadic] = row;
    const returned = types.get(returnOid)!;
    const readsShards = readers.get(oid);
    return {
      schema,
      name,
      oid,
      volatility: VOLATILITIES[volatility]!,
      comment: row[11],
      returnsSet,
      returnType: returned.type,
      returnsTable: names.get(returned.rowsOf) ?? null,
      hasVariadic,
      arguments: argumentsOf(row, types),
      ...(readsShards ? { readsShards } : {}),
    };
  });
  return Map.groupBy(functions, qualifiedKey);
}

function argumentsOf(row: RawFunction, types: Types): readonly CatalogArgument[] {
  const [, , , , , , , typeOids, names, modes, defaults] = row;
  const modeAt = (i: number): CatalogArgument['mode'] => ARGUMENT_MODES[modes?.[i] ?? 'i']!;
  const inputs = typeOids.flatMap((_, i) => (modeAt(i) === 'out' || modeAt(i) === 'table' ? [] : [i]));
  // Defaults belong to the last inputs. PostgreSQL manual, "pg_proc".
  const firstDefault = inputs.length - defaults;
  const withDefault = new Set(inputs.slice(firstDefault));
  return typeOids.map((oid, i) => ({
    name: names?.[i] || null,
    mode: modeAt(i),
    type: types.get(oid)!.type,
    hasDefault: withDefault.has(i),
  }));
}
