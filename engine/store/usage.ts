/** The counts of requests by operation in the metadata database, which every replica adds to. A day is a day of the database's clock in UTC.
 *  In: what a replica has counted since it last wrote. Out: sums over replicas and days. Each role has a limit of its own in each table: it keeps its
 *  rows and its sets with the most requests, and the others are added to its uncounted requests. A set is stored with its first row.
 *  Not here: counting (usage/), the tables (migrations/). */
import type { ClientBase } from 'pg';
import type { Database } from '../database/pool.ts';

/** Requests of one operation. Absent names are the empty text. */
export type UsageRow = {
  readonly role: string;
  readonly operation: string;
  readonly client: string;
  /** The id of the coordinates. */
  readonly coordinateSet: string;
  readonly requests: number;
};

/** The counts of a replica since it last wrote: the rows, the coordinates by id, and the numbers of uncounted requests by role. */
export type UsageBatch = {
  readonly rows: readonly UsageRow[];
  readonly coordinateSets: ReadonlyMap<string, readonly string[]>;
  readonly uncounted: ReadonlyMap<string, number>;
};

export type UsageLimits = {
  /** The rows of one role on one day. */
  readonly rowsPerRole: number;
  /** The sets of coordinates of one role on all days. Those of the current day may be more until the next pruning. */
  readonly setsPerRole: number;
};

/** The lock of replicas that choose what to keep. They write one after the other, because each may delete rows of others. */
const CHOICE_LOCK = 7_318_204_411;

/** Adds what a replica has counted. Returns the number of requests that the limits of the tables leave out, those of displaced rows included. */
export async function addUsage(database: Database, batch: UsageBatch, limits: UsageLimits): Promise<number> {
  return database.transaction({}, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [CHOICE_LOCK]);
    const { requests, displacedSets } = await storeRows(client, batch, limits);
    await deleteUnusedSets(client, displacedSets);
    return requests;
  });
}

/** Stores the rows of each role with the most requests, and their sets. */
async function storeRows(
  client: ClientBase,
  { rows, coordinateSets, uncounted }: UsageBatch,
  limits: UsageLimits,
): Promise<{ readonly requests: number; readonly displacedSets: readonly string[] }> {
  const { rows: left } = await client.query(
    `with today as (select (now() at time zone 'utc')::date as day),
     given as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
                  as given (role, operation, client, coordinate_set, requests)),
     stored as (
       select * from pergola.operation_usage join today using (day) where role in (select role from given)),
     ranked as (
       select *, row_number() over (
                   partition by role order by total desc, is_stored desc, operation, client, coordinate_set) as number
         from (select role, operation, client, coordinate_set, stored.requests + coalesce(given.requests, 0) as total,
                      true as is_stored
                 from stored left join given using (role, operation, client, coordinate_set)
               union all
               select role, operation, client, coordinate_set, given.requests, false
                 from given left join stored using (role, operation, client, coordinate_set)
                where stored.day is null) as every),
     accepted as (
       select given.* from given join ranked using (role, operation, client, coordinate_set) where number <= $6),
     displaced as (
       delete from pergola.operation_usage u using today, ranked r
        where u.day = today.day and r.is_stored and r.number > $6
          and (u.role, u.operation, u.client, u.coordinate_set) = (r.role, r.operation, r.client, r.coordinate_set)
       returning u.role, u.requests, u.coordinate_set),
     described as (
       insert into pergola.coordinate_set (id, coordinates)
       select id, string_to_array(listed, ' ') from unnest($9::text[], $10::text[]) as sets (id, listed)
        where id in (select coordinate_set from accepted)
       on conflict do nothing),
     added as (
       insert into pergola.operation_usage (day, role, operation, client, coordinate_set, requests)
       select day, role, operation, client, coordinate_set, requests from accepted cross join today
       on conflict (day, role, operation, client, coordinate_set)
       do update set requests = operation_usage.requests + excluded.requests),
     refused as (
       select role, requests from given
        where not exists (
          select from accepted a
           where (a.role, a.operation, a.client, a.coordinate_set)
               = (given.role, given.operation, given.client, given.coordinate_set))
       union all
       select role, requests from displaced),
     noted as (
       insert into pergola.uncounted_usage (day, role, requests)
       select day, role, sum(requests)
         from (select * from refused union all select * from unnest($7::text[], $8::bigint[])) as lost (role, requests)
        cross join today group by day, role
       on conflict (day, role) do update set requests = uncounted_usage.requests + excluded.requests)
     select (select coalesce(sum(requests), 0)::text from refused) as requests,
            (select array_agg(distinct coordinate_set) from displaced) as displaced_sets`,
    [
      rows.map(({ role }) => role),
      rows.map(({ operation }) => operation),
      rows.map(({ client: name }) => name),
      rows.map(({ coordinateSet }) => coordinateSet),
      rows.map(({ requests }) => requests),
      limits.rowsPerRole,
      [...uncounted.keys()],
      [...uncounted.values()],
      [...coordinateSets.keys()],
      [...coordinateSets.values()].map((coordinates) => coordinates.join(' ')),
    ],
  );
  return { requests: Number(left[0].requests), displacedSets: left[0].displaced_sets ?? [] };
}

async function deleteUnusedSets(client: ClientBase, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await client.query(
    `delete from pergola.coordinate_set s
      where id = any($1::text[]) and not exists (select from pergola.operation_usage u where u.coordinate_set = s.id)`,
    [ids],
  );
}

/** Deletes the counts of all but the last `keptDays` days, today included, those of sets beyond the limit of a role, and coordinates that no count
 *  refers to. A role keeps its sets with the most requests of all days. Returns the number of requests that became uncounted. */
export async function pruneUsage(
  database: Database,
  keptDays: number,
  { setsPerRole }: Pick<UsageLimits, 'setsPerRole'>,
): Promise<number> {
  return database.transaction({}, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [CHOICE_LOCK]);
    for (const table of ['operation_usage', 'uncounted_usage'] as const) {
      await client.query(DELETE_DAYS[table], [keptDays]);
    }
    const { rows: left } = await client.query(
      `with ranked as (
         select role, coordinate_set,
                row_number() over (partition by role order by sum(requests) desc, max(day) desc, coordinate_set) as number
           from pergola.operation_usage group by role, coordinate_set),
       displaced as (
         delete from pergola.operation_usage u using ranked r
          where r.number > $1 and (u.role, u.coordinate_set) = (r.role, r.coordinate_set)
         returning u.day, u.role, u.requests),
       noted as (
         insert into pergola.uncounted_usage (day, role, requests)
         select day, role, sum(requests) from displaced group by day, role
         on conflict (day, role) do update set requests = uncounted_usage.requests + excluded.requests)
       select coalesce(sum(requests), 0)::text as requests from displaced`,
      [setsPerRole],
    );
    await client.query(
      `delete from pergola.coordinate_set s
        where not exists (select from pergola.operation_usage u where u.coordinate_set = s.id)`,
    );
    return Number(left[0].requests);
  });
}

const DELETE_DAYS = {
  operation_usage: `delete from pergola.operation_usage where day <= (now() at time zone 'utc')::date - $1::int`,
  uncounted_usage: `delete from pergola.uncounted_usage where day <= (now() at time zone 'utc')::date - $1::int`,
};

/** The restrictions on the counts to read. An absent member restricts nothing. */
export type UsageFilter = {
  /** The number of days, today included. */
  readonly days: number;
  readonly role?: string | undefined;
  readonly operation?: string | undefined;
  readonly client?: string | undefined;
  readonly coordinate?: string | undefined;
};

export type UsedOperation = Omit<UsageRow, 'coordinateSet'> & {
  /** The last day with a request: `2026-11-24`. */
  readonly lastDay: string;
};

export type UsedCoordinate = Pick<UsedOperation, 'role' | 'requests' | 'lastDay'> & {
  readonly coordinate: string;
};

/** The conditions of a UsageFilter, which are its first five parameters. */
const FILTERED = `
  from pergola.operation_usage u
 where u.day > (now() at time zone 'utc')::date - $1::int
   and ($2::text is null or u.role = $2) and ($3::text is null or u.operation = $3) and ($4::text is null or u.client = $4)
   and ($5::text is null
        or exists (select from pergola.coordinate_set s where s.id = u.coordinate_set and $5 = any(s.coordinates)))`;

function parametersOf({ days, role, operation, client, coordinate }: UsageFilter): readonly unknown[] {
  return [days, role ?? null, operation ?? null, client ?? null, coordinate ?? null];
}

/** Returns operations with their requests, those with most requests first. */
export async function usedOperations(
  database: Database,
  filter: UsageFilter,
  most: number,
): Promise<readonly UsedOperation[]> {
  const { rows } = await database.query(
    `select role, operation, client, sum(requests)::text as requests, max(day)::text as last_day
     ${FILTERED} group by role, operation, client order by sum(requests) desc, role, operation, client limit $6`,
    [...parametersOf(filter), most],
  );
  return rows.map(({ role, operation, client, requests, last_day }) => ({
    ...{ role, operation, client, requests: Number(requests), lastDay: last_day },
  }));
}

/** Returns coordinates with the requests of the operations that use them, those with most requests first. */
export async function usedCoordinates(
  database: Database,
  filter: UsageFilter,
  most: number,
): Promise<readonly UsedCoordinate[]> {
  const { rows } = await database.query(
    `with counted as (
       select role, coordinate_set, sum(requests) as requests, max(day) as last_day ${FILTERED}
        group by role, coordinate_set)
     select role, coordinate, sum(requests)::text as requests, max(last_day)::text as last_day
       from counted join pergola.coordinate_set s on s.id = counted.coordinate_set, unnest(s.coordinates) as coordinate
      where $5::text is null or coordinate = $5
      group by role, coordinate order by sum(requests) desc, role, coordinate limit $6`,
    [...parametersOf(filter), most],
  );
  return rows.map(({ role, coordinate, requests, last_day }) => ({
    ...{ role, coordinate, requests: Number(requests), lastDay: last_day },
  }));
}

/** The key of all operations of a role. */
export const ANY_COORDINATE = '*';

export type UsersOfCoordinate = {
  /** The number of operations. */
  readonly count: number;
  /** The operations with most requests, in that order. */
  readonly operations: readonly UsedOperation[];
};

/** Returns the operations of a role that use each of the coordinates, at most `most` for each, and those of the role under ANY_COORDINATE. */
export async function usersOfCoordinates(
  database: Database,
  { days, role }: { readonly days: number; readonly role: string },
  coordinates: readonly string[],
  most: number,
): Promise<ReadonlyMap<string, UsersOfCoordinate>> {
  const { rows } = await database.query(
    `with counted as (
       select operation, client, coordinate_set, sum(requests) as requests, max(day) as last_day
         from pergola.operation_usage
        where day > (now() at time zone 'utc')::date - $1::int and role = $2
        group by operation, client, coordinate_set),
     used as (
       select coordinate, operation, client, sum(requests) as requests, max(last_day) as last_day
         from counted join pergola.coordinate_set s on s.id = counted.coordinate_set,
              unnest(s.coordinates) as coordinate
         join unnest($3::text[]) as wanted (name) on wanted.name = coordinate
        where s.coordinates && $3::text[]
        group by coordinate, operation, client
       union all
       select '*', operation, client, sum(requests), max(last_day) from counted group by operation, client),
     ranked as (
       select used.*, count(*) over (partition by coordinate) as users,
              row_number() over (partition by coordinate order by requests desc, operation, client) as place
         from used)
     select coordinate, operation, client, requests::text, last_day::text, users::int
       from ranked where place <= $4 order by coordinate, place`,
    [days, role, [...new Set(coordinates)], most],
  );
  const groups = Map.groupBy(rows, ({ coordinate }): string => coordinate);
  return new Map(
    [...groups].map(([coordinate, found]) => {
      const operations = found.map(({ operation, client, requests, last_day }) => ({
        ...{ role, operation, client, requests: Number(requests), lastDay: last_day },
      }));
      return [coordinate, { count: found[0].users, operations }] as const;
    }),
  );
}

/** Returns the uncounted requests of each role, and the first day with any request; null when there is none. */
export async function usageTotals(
  database: Database,
  days: number,
): Promise<{
  readonly since: string | null;
  readonly uncounted: readonly Pick<UsedOperation, 'role' | 'requests' | 'lastDay'>[];
}> {
  const { rows } = await database.query(
    `select role, sum(requests)::text as requests, max(day)::text as last_day from pergola.uncounted_usage
      where day > (now() at time zone 'utc')::date - $1::int group by role order by role`,
    [days],
  );
  const { rows: first } = await database.query(
    `select min(day)::text as day
       from (select day from pergola.operation_usage union all select day from pergola.uncounted_usage) as days
      where day > (now() at time zone 'utc')::date - $1::int`,
    [days],
  );
  const uncounted = rows.map(({ role, requests, last_day }) => ({
    ...{ role, requests: Number(requests), lastDay: last_day },
  }));
  return { since: first[0]?.day ?? null, uncounted };
}
