/** Asks a Postgres what it has: one statement, one row of JSON, one Catalog.
 *  In: anything with `query`. Out: Catalog (types.ts), immutable. Works on PostgreSQL 13 to 18.
 *  Not here: what of it is tracked (resolve/), when it is asked again (admin/state.ts). */
import type { Catalog } from './types.ts';

/** What introspection needs of a connection; `pg.Client`, `pg.Pool` and execute/pool.ts's Database all fit. */
export type Introspectable = { query(text: string): Promise<{ readonly rows: readonly unknown[] }> };

/** Raises whatever the client raises, for example when the database is unreachable. */
export declare function introspect(client: Introspectable): Promise<Catalog>;
