/** The statement that a good engineer writes for each workload: one row of one text column, which is the JSON of the result, with the
 *  permissions of the role written into it where the data need them. Not here: the requests (../workloads.ts), the server (server.ts). */

export type Statement = {
  /** The name of the root field; absent where the result is the whole `data`. */
  readonly root?: string;
  /** A function where a limit is part of the text. */
  readonly text: string | ((variables: Variables) => string);
  readonly values: (variables: Variables, clerk: number) => readonly unknown[];
};
type Variables = Readonly<Record<string, unknown>>;

/** Returns SQL for the JSON of a text, or of a number, which may be null. */
const text = (column: string) => `coalesce(to_json(${column})::text, 'null')`;
const list = (row: string, order: string) =>
  `'[' || coalesce(string_agg(${row}, ',' order by ${order}), '') || ']'`;
const limit = ({ most }: Variables) => Number(most);

const playlists = (variables: Variables) => `
select ${list(`'{"name":' || ${text('p.name')} || ',"entries":' || e.entries || '}'`, 'p.id')}
from playlist p, lateral (
  select ${list(
    `'{"track":{"name":' || ${text('t.name')} || ',"album":{"title":' || ${text('a.title')} || ',"artist":{"name":' ||
      ${text('r.name')} || '}},"media_type":{"name":' || ${text('m.name')} || '}}}'`,
    't.id',
  )} as entries
  from (
    select t.* from playlist_track pt join track t on t.id = pt.track_id join genre g on g.id = t.genre_id
    where pt.playlist_id = p.id and g.name = $1 order by pt.track_id limit ${limit(variables)}) t
  join album a on a.id = t.album_id join artist r on r.id = a.artist_id join media_type m on m.id = t.media_type_id) e
where exists (
  select from playlist_track pt join track t on t.id = pt.track_id join genre g on g.id = t.genre_id
  where pt.playlist_id = p.id and g.name = $1)`;

const threeLevels = (variables: Variables) => `
select ${list(
  `'{"name":' || ${text('r.name')} || ',"albums":' || (
    select ${list(
      `'{"title":' || ${text('a.title')} || ',"tracks":' || (
        select ${list(`'{"name":' || ${text('t.name')} || ',"milliseconds":' || t.milliseconds || '}'`, 't.id')}
        from track t where t.album_id = a.id) || '}'`,
      'a.id',
    )}
    from album a where a.artist_id = r.id) || '}'`,
  'r.id',
)}
from (select * from artist order by id limit ${limit(variables)}) r`;

const UPDATE = `
update customer set company = $2 where id = $1 returning '{"id":' || id || ',"company":' || ${text('company')} || '}'`;
const ARTIST = `select '{"id":' || id || ',"name":' || ${text('name')} || '}' from artist where id = $1`;

export const STATEMENTS: Readonly<Record<string, Statement>> = {
  'rows-20': {
    root: 'customer',
    text: `select ${list(`'{"email":' || ${text('email')} || '}'`, 'id')} from customer where clerk_id = $1`,
    values: (_, clerk) => [clerk],
  },
  'by-key': { root: 'artist_by_pk', text: ARTIST, values: ({ id }) => [id] },
  'filters-small': { root: 'playlist', text: playlists, values: ({ genre }) => [genre] },
  'filters-large': { root: 'playlist', text: playlists, values: ({ genre }) => [genre] },
  'three-levels': { root: 'artist', text: threeLevels, values: () => [] },
  search: {
    root: 'track',
    text: `
select ${list(
      `'{"id":' || t.id || ',"name":' || ${text('t.name')} || ',"composer":' || ${text('t.composer')} ||
        ',"album":{"title":' || ${text('a.title')} || ',"artist":{"name":' || ${text('r.name')} || '}},"genre":{"name":' ||
        ${text('g.name')} || '},"media_type":{"name":' || ${text('m.name')} || '}}'`,
      't.name, t.id',
    )}
from (select * from track where name ilike $1 or composer ilike $1 order by name, id limit 20) t
join album a on a.id = t.album_id join artist r on r.id = a.artist_id
join genre g on g.id = t.genre_id join media_type m on m.id = t.media_type_id`,
    values: (variables) => [variables['text']],
  },
  'rows-3500': {
    root: 'track',
    text: `
select '[' || coalesce(string_agg(
  '{"id":' || id || ',"name":' || ${text('name')} || ',"composer":' || ${text('composer')} || ',"milliseconds":' || milliseconds ||
    ',"bytes":' || bytes || ',"unit_price":' || unit_price || '}', ','), '') || ']'
from (select * from track order by id) t`,
    values: () => [],
  },
  update: { root: 'update_customer_by_pk', text: UPDATE, values: ({ id, company }) => [id, company] },
  'role-by-key': {
    root: 'invoice_by_pk',
    text: `
select '{"id":' || i.id || ',"issued":' || to_json(i.issued) || ',"total":' || i.total || '}'
from invoice i join customer c on c.id = i.customer_id where i.id = $1 and c.clerk_id = $2`,
    values: ({ id }, clerk) => [id, clerk],
  },
  'role-rows-100': {
    root: 'invoice_line',
    text: `
select '[' || coalesce(string_agg(
  '{"id":' || id || ',"quantity":' || quantity || ',"unit_price":' || unit_price || ',"track_id":' || track_id || '}', ','), '') || ']'
from (
  select l.* from invoice_line l join invoice i on i.id = l.invoice_id join customer c on c.id = i.customer_id
  where c.clerk_id = $1 order by l.id limit 100) l`,
    values: (_, clerk) => [clerk],
  },
  'role-four-levels': {
    root: 'customer',
    text: `
select ${list(
      `'{"name":' || ${text('c.name')} || ',"invoices":' || (
    select ${list(
      `'{"issued":' || to_json(i.issued) || ',"total":' || i.total || ',"lines":' || (
        select ${list(
          `'{"quantity":' || l.quantity || ',"track":' ||
            case when t.id is null then 'null' else '{"name":' || ${text('t.name')} || '}' end || '}'`,
          'l.id',
        )}
        from invoice_line l left join track t on t.id = l.track_id and t.media_type_id <> 5
        where l.invoice_id = i.id) || '}'`,
      'i.id',
    )}
    from invoice i where i.customer_id = c.id) || '}'`,
      'c.id',
    )}
from customer c where c.clerk_id = $1`,
    values: (_, clerk) => [clerk],
  },
  'role-update': {
    root: 'update_customer_by_pk',
    text: `
update customer set company = $2 where id = $1 and clerk_id = $3
returning '{"id":' || id || ',"company":' || ${text('company')} || '}'`,
    values: ({ id, company }, clerk) => [id, company, clerk],
  },
  insert: {
    root: 'insert_play_one',
    text: `
insert into play (customer_id, track_id, clerk_id) select $1, $2, $3 where $2 > 0
returning '{"customer_id":' || customer_id || ',"track_id":' || track_id || '}'`,
    values: ({ customer, track }, clerk) => [customer, track, clerk],
  },
  upsert: {
    root: 'insert_rating_one',
    text: `
insert into rating (customer_id, track_id, stars) select $1, $1, $2 where $2 <= 5
on conflict (customer_id, track_id) do update set stars = excluded.stars
returning '{"customer_id":' || customer_id || ',"stars":' || stars || '}'`,
    values: ({ customer, stars }) => [customer, stars],
  },
  'two-updates': {
    text: `
with one as (update customer set company = $3 where id = $1 and clerk_id = $4 returning id, company),
two as (update customer set company = $3 where id = $2 and clerk_id = $4 returning id, company)
select '{"one":{"id":' || one.id || ',"company":' || ${text('one.company')} || '},"two":{"id":' || two.id || ',"company":' ||
  ${text('two.company')} || '}}'
from one, two`,
    values: ({ one, two, company }, clerk) => [one, two, company, clerk],
  },
  gzip: { root: 'artist', text: threeLevels, values: () => [] },
  rest: { root: 'artist_by_pk', text: ARTIST, values: ({ id }) => [id] },
};
