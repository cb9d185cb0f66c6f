/** The requests of the speed measurement: what an application sends to a GraphQL server, each in several variants so that no cache holds
 *  the response. The server that is written by hand answers the same requests (by-hand/statements.ts). Not here: events and live
 *  queries, which are no requests (deliveries.ts). */

export type Workload = {
  readonly name: string;
  /** The name of the request in tables and documents. */
  readonly title: string;
  readonly role: 'staff' | 'clerk';
  /** A GraphQL request, or a path that is requested by GET. */
  readonly query?: string;
  readonly variants: readonly Readonly<Record<string, unknown>>[];
  readonly path?: (variant: Readonly<Record<string, unknown>>) => string;
  readonly isCompressed?: boolean;
  /** True when both servers answer the same variant differently, because the first has changed rows. */
  readonly isUnrepeatable?: boolean;
};

/** The clerk of each request: the value of X-Engine-User-Id. */
export const CLERK = 4;

const KEYS = Array.from({ length: 64 }, (_, i) => ({ id: 1 + ((i * 37) % 275) }));
/** Invoices of customers of the clerk. */
const INVOICES = Array.from({ length: 64 }, (_, i) => ({ id: 60 * (i % 7) + 3 * (1 + (i % 19)) }));
const PLAYLISTS = `query Playlists($genre: String!, $most: Int!) {
  playlist(where: {entries: {track: {genre: {name: {_eq: $genre}}}}}, order_by: {id: asc}) {
    name
    entries(where: {track: {genre: {name: {_eq: $genre}}}}, order_by: {track_id: asc}, limit: $most) {
      track { name album { title artist { name } } media_type { name } }
    }
  }
}`;
const THREE_LEVELS = `query Artists($most: Int!) {
  artist(order_by: {id: asc}, limit: $most) {
    name albums(order_by: {id: asc}) { title tracks(order_by: {id: asc}) { name milliseconds } }
  }
}`;

export const WORKLOADS: readonly Workload[] = [
  {
    name: 'rows-20',
    title: '20 rows',
    role: 'staff',
    query: 'query Emails { customer(order_by: {id: asc}) { email } }',
    variants: [{}],
  },
  {
    name: 'by-key',
    title: 'one row by key',
    role: 'staff',
    query: 'query Artist($id: Int!) { artist_by_pk(id: $id) { id name } }',
    variants: KEYS,
  },
  {
    name: 'filters-small',
    title: 'filters and relationships, small',
    role: 'staff',
    query: PLAYLISTS,
    variants: [{ genre: 'Genre 7', most: 1 }],
  },
  {
    name: 'filters-large',
    title: 'filters and relationships, large',
    role: 'staff',
    query: PLAYLISTS,
    variants: [{ genre: 'Genre 25', most: 20 }],
  },
  {
    name: 'three-levels',
    title: 'three levels',
    role: 'staff',
    query: THREE_LEVELS,
    variants: [{ most: 20 }],
  },
  {
    name: 'search',
    title: 'search over relationships',
    role: 'staff',
    query: `query Search($text: String!) {
      track(where: {_or: [{name: {_ilike: $text}}, {composer: {_ilike: $text}}]}, order_by: [{name: asc}, {id: asc}], limit: 20) {
        id name composer album { title artist { name } } genre { name } media_type { name }
      }
    }`,
    variants: ['%love%', '%rock%', '%night%', '%blue%'].map((text) => ({ text })),
  },
  {
    name: 'rows-3500',
    title: '3,500 rows',
    role: 'staff',
    query: 'query Tracks { track(order_by: {id: asc}) { id name composer milliseconds bytes unit_price } }',
    variants: [{}],
  },
  {
    name: 'update',
    title: 'one row updated by key',
    role: 'staff',
    query: `mutation Update($id: Int!, $company: String!) {
      update_customer_by_pk(pk_columns: {id: $id}, _set: {company: $company}) { id company }
    }`,
    variants: Array.from({ length: 32 }, (_, i) => ({ id: 1 + ((i * 7) % 60), company: `company ${i}` })),
  },
  {
    name: 'role-by-key',
    title: 'one row by key, filter of a role over a relationship',
    role: 'clerk',
    query: 'query Invoice($id: Int!) { invoice_by_pk(id: $id) { id issued total } }',
    variants: INVOICES,
  },
  {
    name: 'role-rows-100',
    title: '100 rows, filter of a role over two relationships',
    role: 'clerk',
    query: `query Lines { invoice_line(order_by: {id: asc}, limit: 100) { id quantity unit_price track_id } }`,
    variants: [{}],
  },
  {
    name: 'role-four-levels',
    title: 'four levels, each with a filter of the role',
    role: 'clerk',
    query: `query Customers {
      customer(order_by: {id: asc}) {
        name
        invoices(order_by: {id: asc}) { issued total lines(order_by: {id: asc}) { quantity track { name } } }
      }
    }`,
    variants: [{}],
  },
  {
    name: 'role-update',
    title: 'one row updated by key, filter and check of a role',
    role: 'clerk',
    query: `mutation UpdateOwn($id: Int!, $company: String!) {
      update_customer_by_pk(pk_columns: {id: $id}, _set: {company: $company}) { id company }
    }`,
    variants: Array.from({ length: 20 }, (_, i) => ({ id: 1 + 3 * i, company: `company ${i}` })),
  },
  {
    name: 'insert',
    title: 'one row inserted, check and preset of a role',
    role: 'clerk',
    query: `mutation Insert($customer: Int!, $track: Int!) {
      insert_play_one(object: {customer_id: $customer, track_id: $track}) { customer_id track_id }
    }`,
    variants: Array.from({ length: 32 }, (_, i) => ({ customer: 1 + i, track: 1 + i * 5 })),
  },
  {
    name: 'upsert',
    title: 'one row inserted or updated',
    role: 'clerk',
    query: `mutation Rate($customer: Int!, $stars: Int!) {
      insert_rating_one(
        object: {customer_id: $customer, track_id: $customer, stars: $stars}
        on_conflict: {constraint: rating_pkey, update_columns: [stars]}
      ) { customer_id stars }
    }`,
    variants: Array.from({ length: 32 }, (_, i) => ({ customer: 1 + i, stars: 1 + (i % 5) })),
  },
  {
    name: 'two-updates',
    title: 'two updates in one mutation',
    role: 'clerk',
    query: `mutation Both($one: Int!, $two: Int!, $company: String!) {
      one: update_customer_by_pk(pk_columns: {id: $one}, _set: {company: $company}) { id company }
      two: update_customer_by_pk(pk_columns: {id: $two}, _set: {company: $company}) { id company }
    }`,
    variants: Array.from({ length: 10 }, (_, i) => ({
      one: 1 + 6 * i,
      two: 4 + 6 * i,
      company: `company ${i}`,
    })),
  },
  {
    name: 'gzip',
    title: 'three levels, compressed',
    role: 'staff',
    query: THREE_LEVELS,
    variants: [{ most: 20 }],
    isCompressed: true,
  },
  {
    name: 'rest',
    title: 'a REST endpoint',
    role: 'staff',
    path: ({ id }) => `/api/rest/artist/${id}`,
    variants: KEYS,
  },
  {
    name: 'action',
    title: 'an action',
    role: 'clerk',
    query: 'query Quote($trackId: Int!) { quote(trackId: $trackId) { price currency } }',
    variants: KEYS.map(({ id }) => ({ trackId: id })),
  },
];

/** Returns the bytes of each variant of the request, for a server at the address. */
export function requestsOf(workload: Workload, secret: string): readonly string[] {
  return workload.variants.map((variant) => {
    const headers = [
      'host: 127.0.0.1',
      `x-engine-admin-secret: ${secret}`,
      `x-engine-role: ${workload.role}`,
      `x-engine-user-id: ${CLERK}`,
      ...(workload.isCompressed ? ['accept-encoding: gzip'] : []),
    ];
    if (workload.path) return [`GET ${workload.path(variant)} HTTP/1.1`, ...headers, '', ''].join('\r\n');
    const body = JSON.stringify({ query: workload.query, variables: variant });
    const ofBody = ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`];
    return ['POST /v1/graphql HTTP/1.1', ...headers, ...ofBody, '', body].join('\r\n');
  });
}
