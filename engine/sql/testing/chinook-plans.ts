/** Plans of some typical requests over the Chinook database, built by hand: what plan/ would make of the GraphQL text
 *  above each. For goldens of the SQL and for timing it against hand-written statements. */
import { builtinType } from '../../catalog/types.ts';
import type { Field, OrderItem, Plan, Select } from '../../plan/types.ts';
import { type Join, type Leaf, type Predicate, TRUE } from '../../resolve/predicate.ts';

export const int4 = builtinType('int4');
export const varchar = builtinType('varchar');
export const numeric = builtinType('numeric');

export const named = (name: string) => ({ schema: 'public', name });

export function select(table: string, fields: readonly Field[], rest: Partial<Select> = {}): Select {
  return {
    table: named(table),
    fields,
    where: TRUE,
    orderBy: [],
    distinctOn: [],
    limit: null,
    offset: null,
    ...rest,
  };
}

export const int = (column: string, isNullable = false): Field => ({
  kind: 'column',
  alias: column,
  column,
  type: int4,
  json: 'bare',
  isNullable,
  path: null,
});

export const text = (column: string, isNullable = false): Field => ({
  kind: 'column',
  alias: column,
  column,
  type: varchar,
  json: 'quoted',
  isNullable,
  path: null,
});

export const object = (
  alias: string,
  on: Join,
  fields: readonly Field[],
  where: Predicate = TRUE,
): Field => ({
  kind: 'object',
  alias,
  join: on,
  select: select(on.table.name, fields, { where }),
});

export const array = (
  alias: string,
  on: Join,
  fields: readonly Field[],
  rest: Partial<Select> = {},
): Field => ({
  kind: 'array',
  alias,
  join: on,
  select: select(on.table.name, fields, rest),
});

export const to = (table: string, local: string, remote = local, isUnique = true): Join => ({
  table: named(table),
  mapping: [[local, remote]],
  isUnique,
});

export const many = (table: string, local: string, remote = local): Join => to(table, local, remote, false);

export const asc = (column: string): OrderItem => ({ path: [], column, direction: 'asc', nulls: 'last' });

export const variable = (name: string, type = varchar): Leaf => ({ kind: 'variable', path: [name], type });

export const rows = (alias: string, query: Select): Plan => ({
  operation: 'query',
  roots: [{ kind: 'database', alias, source: 'default', query: { kind: 'rows', select: query } }],
});

/** `{ Customer { Email } }` as an employee, who sees the customers they support. */
export const simple = rows(
  'Customer',
  select('Customer', [text('Email')], {
    where: {
      kind: 'compare',
      left: { column: 'SupportRepId', type: int4 },
      operator: '_eq',
      right: { kind: 'session', variable: 'x-engine-user-id', type: int4 },
    },
  }),
);

/** `query ($id: Int!) { Artist_by_pk(ArtistId: $id) { ArtistId Name } }` */
export const byPk: Plan = {
  operation: 'query',
  roots: [
    {
      kind: 'database',
      alias: 'Artist_by_pk',
      source: 'default',
      query: {
        kind: 'row',
        select: select('Artist', [int('ArtistId'), text('Name', true)], {
          where: {
            kind: 'compare',
            left: { column: 'ArtistId', type: int4 },
            operator: '_eq',
            right: variable('id', int4),
          },
        }),
      },
    },
  ],
};

const ofGenre: Predicate = {
  kind: 'related',
  join: to('Track', 'TrackId'),
  where: {
    kind: 'related',
    join: to('Genre', 'GenreId'),
    where: {
      kind: 'compare',
      left: { column: 'Name', type: varchar },
      operator: '_eq',
      right: variable('genre'),
    },
  },
};

/** Playlists with a track of the genre, and those tracks with album, artist and media type. */
export const complex = (limit: number): Plan =>
  rows(
    'playlist_containing_genre',
    select(
      'Playlist',
      [
        text('Name', true),
        array(
          'tracks_of_genre',
          many('PlaylistTrack', 'PlaylistId'),
          [
            object('Track', to('Track', 'TrackId'), [
              text('Name'),
              object('Album', to('Album', 'AlbumId'), [
                text('Title'),
                object('Artist', to('Artist', 'ArtistId'), [text('Name', true)]),
              ]),
              object('MediaType', to('MediaType', 'MediaTypeId'), [text('Name', true)]),
            ]),
          ],
          { where: ofGenre, limit },
        ),
      ],
      {
        where: { kind: 'related', join: many('PlaylistTrack', 'PlaylistId'), where: ofGenre },
        orderBy: [asc('Name')],
      },
    ),
  );

/** Artists with their albums with their tracks, ordered at each level. */
export const nested = (limit: number): Plan =>
  rows(
    'Artist',
    select(
      'Artist',
      [
        text('Name', true),
        array(
          'Albums',
          many('Album', 'ArtistId'),
          [
            text('Title'),
            array('Tracks', many('Track', 'AlbumId'), [text('Name'), int('Milliseconds')], {
              orderBy: [asc('TrackId')],
            }),
          ],
          { orderBy: [asc('AlbumId')] },
        ),
      ],
      { orderBy: [asc('ArtistId')], limit },
    ),
  );

const like = (column: string): Predicate => ({
  kind: 'compare',
  left: { column, type: varchar },
  operator: '_ilike',
  right: variable('q'),
});

/** Tracks by name or composer, with four relationships, ordered and limited. */
export const search = (limit: number): Plan =>
  rows(
    'Track',
    select(
      'Track',
      [
        int('TrackId'),
        text('Name'),
        text('Composer', true),
        object('Album', to('Album', 'AlbumId'), [
          text('Title'),
          object('Artist', to('Artist', 'ArtistId'), [text('Name', true)]),
        ]),
        object('Genre', to('Genre', 'GenreId'), [text('Name', true)]),
        object('MediaType', to('MediaType', 'MediaTypeId'), [text('Name', true)]),
      ],
      {
        where: { kind: 'or', any: [like('Name'), like('Composer')] },
        orderBy: [asc('Name'), asc('TrackId')],
        limit,
      },
    ),
  );

/** Every track, six columns. */
export const flat = rows(
  'Track',
  select(
    'Track',
    [
      int('TrackId'),
      text('Name'),
      text('Composer', true),
      int('Milliseconds'),
      int('Bytes', true),
      {
        kind: 'column',
        alias: 'UnitPrice',
        column: 'UnitPrice',
        type: numeric,
        json: 'quoted',
        isNullable: false,
        path: null,
      },
    ],
    { orderBy: [asc('TrackId')] },
  ),
);
