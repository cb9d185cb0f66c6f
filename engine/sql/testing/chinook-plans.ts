/** Plans of some typical requests over the Chinook database, built by hand: what plan/ would make of the GraphQL text
 *  above each. For goldens of the SQL and for timing it against hand-written statements. */
import { builtinType } from '../../catalog/types.ts';
import type { Plan } from '../../plan/types.ts';
import type { Predicate } from '../../resolve/predicate.ts';
import {
  array,
  asc,
  column,
  compare,
  int,
  int4,
  many,
  object,
  row,
  rows,
  select,
  session,
  text,
  to,
  varchar,
  variable,
} from './build.ts';

/** `{ Customer { Email } }` as an employee, who sees the customers they support. */
export const simple = rows(
  'Customer',
  select('Customer', [text('Email')], {
    where: compare('SupportRepId', '_eq', session('x-engine-user-id')),
  }),
);

/** `query ($id: Int!) { Artist_by_pk(ArtistId: $id) { ArtistId Name } }` */
export const byPk = row(
  'Artist_by_pk',
  select('Artist', [int('ArtistId'), text('Name', true)], {
    where: compare('ArtistId', '_eq', variable('id', int4)),
  }),
);

const ofGenre: Predicate = {
  kind: 'related',
  join: to('Track', 'TrackId'),
  where: {
    kind: 'related',
    join: to('Genre', 'GenreId'),
    where: compare('Name', '_eq', variable('genre'), varchar),
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

const like = (name: string) => compare(name, '_ilike', variable('q'), varchar);

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
      column('UnitPrice', builtinType('numeric'), 'quoted'),
    ],
    { orderBy: [asc('TrackId')] },
  ),
);
