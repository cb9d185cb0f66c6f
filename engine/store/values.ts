/** The rows of named values in the metadata database. Every change increments `values_version` of the document's row and notifies the
 *  other replicas in the same transaction, so none misses it.
 *  In and out: sealed values. Not here: encryption (values/seal.ts), what a replica knows (values/named-values.ts). */
import type { ClientBase } from 'pg';
import type { Database } from '../database/pool.ts';
import type { SealedValue } from '../values/named-values.ts';

export type StoredValues = { readonly version: number; readonly rows: readonly SealedValue[] };

/** The changes of one write. */
export type ValueChanges = {
  readonly set: readonly Pick<SealedValue, 'name' | 'keyId' | 'sealed'>[];
  /** Values encrypted again: they keep their version. */
  readonly resealed?: readonly Pick<SealedValue, 'name' | 'keyId' | 'sealed'>[];
  readonly removed: readonly string[];
};

/** Returns the values and their version, which belong together. */
export async function loadValues(database: Database): Promise<StoredValues> {
  const { rows } = await database.query(
    `select m.values_version::text as current, v.name, v.version::text, v.key_id, v.sealed
       from pergola.metadata m left join pergola.value v on true order by v.name`,
  );
  const version = Number(rows[0]?.current ?? 0);
  return { version, rows: rows.filter(({ name }) => name !== null).map(rowOf) };
}

/** Returns the values with these names, or all of them. The caller has locked the document's row. */
export async function readValues(
  client: ClientBase,
  names?: readonly string[],
): Promise<readonly SealedValue[]> {
  const { rows } = await client.query(
    `select name, version::text, key_id, sealed from pergola.value where $1::text[] is null or name = any($1) order by name`,
    [names ?? null],
  );
  return rows.map(rowOf);
}

/** Writes the changes and returns the row of versions. The caller has locked the document's row. A new value has the new
 *  version of all values as its version. */
export async function writeValues(client: ClientBase, { set, resealed = [], removed }: ValueChanges) {
  const { rows } = await client.query(
    `update pergola.metadata set values_version = values_version + 1
     returning resource_version::text, catalog_version::text, state_version::text, values_version::text`,
  );
  const row = rows[0];
  const columns = (values: ValueChanges['set']) => [
    values.map(({ name }) => name),
    values.map(({ keyId }) => keyId),
    values.map(({ sealed }) => sealed),
  ];
  if (set.length > 0) {
    await client.query(
      `insert into pergola.value (name, key_id, sealed, version)
       select name, key_id, sealed, $4 from unnest($1::text[], $2::text[], $3::bytea[]) as given (name, key_id, sealed)
       on conflict (name) do update
         set key_id = excluded.key_id, sealed = excluded.sealed, version = excluded.version, set_at = now()`,
      [...columns(set), row.values_version],
    );
  }
  if (resealed.length > 0) {
    await client.query(
      `update pergola.value v set key_id = given.key_id, sealed = given.sealed
         from unnest($1::text[], $2::text[], $3::bytea[]) as given (name, key_id, sealed) where v.name = given.name`,
      columns(resealed),
    );
  }
  if (removed.length > 0) {
    await client.query('delete from pergola.value where name = any($1::text[])', [removed]);
  }
  return row;
}

function rowOf(row: {
  readonly name: string;
  readonly version: string;
  readonly key_id: string;
  readonly sealed: Buffer;
}): SealedValue {
  return { name: row.name, version: Number(row.version), keyId: row.key_id, sealed: row.sealed };
}
