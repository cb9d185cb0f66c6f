/** Random worlds of the oracle, each in a plain Postgres and in a Citus cluster, where the tables are distributed, reference and local at
 *  random, and random queries and mutations of all roles to both. In: the URLs of both servers, and a seed that repeats the worlds. Out: for
 *  each world, the requests that the cluster answers differently or after which its rows differ, and whether it was refused when it was
 *  declared. Not here: how worlds and requests are chosen (engine/oracle), the requests that are written by hand (comparison.ts). */
import pg from 'pg';
import { describe, mustAgree } from '../../engine/oracle/testing/agree.ts';
import { type Answer, makeVariables } from '../../engine/oracle/testing/arena.ts';
import type { Choices } from '../../engine/oracle/testing/choices.ts';
import { EVERYTHING, looksAround } from '../../engine/oracle/testing/condition.ts';
import { type EngineRooms, engineOn } from '../../engine/oracle/testing/engine-on.ts';
import type { Shape } from '../../engine/oracle/testing/json.ts';
import { metadataRoles, metadataSource } from '../../engine/oracle/testing/metadata.ts';
import { makeMutation } from '../../engine/oracle/testing/mutation.ts';
import { mutationRequest, mutationShape } from '../../engine/oracle/testing/mutation-text.ts';
import { queryRequest, queryShape, type Request } from '../../engine/oracle/testing/query-text.ts';
import { makeQuery, Sight } from '../../engine/oracle/testing/request.ts';
import { ENUM_TABLE, makeWorld, type World } from '../../engine/oracle/testing/world.ts';
import type { Role, Table } from '../../engine/oracle/testing/world-types.ts';
import { STRICT_RETURNING } from '../../engine/resolve/types.ts';
import {
  answerOf,
  build,
  choicesOf,
  contentsOf,
  dataOf,
  restore,
  type Servers,
  withDatabases,
} from './worlds.ts';

export type WorldVerdict = {
  readonly world: number;
  /** The reason why the metadata was refused for the cluster; null when it was accepted. */
  readonly refusal: string | null;
  readonly queries: number;
  /** The mutations that both have performed. */
  readonly mutations: number;
  /** The mutations that the cluster refuses because of the distribution. */
  readonly refused: number;
  /** The requests that differ, each with its role, its text and both answers. */
  readonly problems: readonly string[];
};

const QUERIES = 25;
const MUTATIONS = 15;

/** Words in the reason of a refusal that is about distribution. */
const REFUSED = 'distributed table';
/** The error of Postgres for an upsert whose objects have the same key. A cluster writes them one after the other. */
const SAME_KEY = 'cannot affect row a second time';
/** The error of a cluster for an upsert whose condition reads other rows. */
const UNSUPPORTED = 'distributionUnsupported';

/** Yields `count` worlds from `from` on. */
export function randomWorlds(
  { citusUrl, postgresUrl }: Servers,
  { seed, from, count }: { readonly seed: number; readonly from: number; readonly count: number },
): AsyncGenerator<WorldVerdict> {
  return withDatabases(postgresUrl, 1, async function* ([plainUrl = '']) {
    const both = { citusUrl, postgresUrl: plainUrl };
    for (let world = from; world < from + count; world++) yield await runWorld(both, seed, world);
  });
}

async function runWorld(servers: Servers, seed: number, number: number): Promise<WorldVerdict> {
  const choices = choicesOf(seed, number);
  const world = loosened(makeWorld(choices(1600)));
  await build(servers.postgresUrl, world, []);
  await build(servers.citusUrl, world, distributionSql(world, choices(100)));
  const plain = await openSide(servers.postgresUrl, world);
  try {
    const cluster = await openSide(servers.citusUrl, world).catch((error: Error) => error.message);
    if (typeof cluster === 'string') {
      const problems = cluster.includes(REFUSED) ? [] : [cluster];
      return { world: number, refusal: cluster, queries: 0, mutations: 0, refused: 0, problems };
    }
    try {
      const pair = new Pair(world, plain, cluster);
      for (let i = 0; i < QUERIES; i++) await pair.query(choices(300));
      for (let i = 0; i < MUTATIONS; i++) await pair.mutate(choices(300));
      const { queries, mutations, refused, problems } = pair;
      return { world: number, refusal: null, queries, mutations, refused, problems };
    } finally {
      await closeSide(cluster);
    }
  } finally {
    await closeSide(plain);
  }
}

type Side = { readonly url: string; readonly engine: EngineRooms; readonly client: pg.Client };

async function openSide(url: string, world: World): Promise<Side> {
  const engine = await engineOn(url, metadataSource(world), metadataRoles(world), [STRICT_RETURNING]);
  const client = new pg.Client(url);
  await client.connect();
  return { url, engine, client };
}

async function closeSide({ engine, client }: Side): Promise<void> {
  await client.end();
  await engine.sources.close();
}

type Asked = { readonly role: Role | null; readonly request: Request; readonly shape: Shape };

/** A world on a plain Postgres and on a cluster, which begin with the same rows. */
class Pair {
  readonly problems: string[] = [];
  /** The requests that were answered alike; of the mutations those without an error. */
  queries = 0;
  mutations = 0;
  /** The mutations that the cluster refuses because of the distribution. */
  refused = 0;
  readonly #world: World;
  readonly #plain: Side;
  readonly #cluster: Side;

  constructor(world: World, plain: Side, cluster: Side) {
    this.#world = world;
    this.#plain = plain;
    this.#cluster = cluster;
  }

  async query(choices: Choices): Promise<void> {
    const role = choices.of([...this.#world.roles, this.#world.heir, null]);
    const query = makeQuery(choices, new Sight(this.#world, role));
    if (!query) return;
    const variables = makeVariables(choices);
    const request = queryRequest(query, choices, this.#world.names);
    const asked = { role, request, shape: queryShape(query) };
    const theirs = await answerOf(this.#plain.engine, request, role, variables);
    const ours = await answerOf(this.#cluster.engine, request, role, variables);
    if (this.#areAlike(asked, ours, theirs)) this.queries += 1;
  }

  async mutate(choices: Choices): Promise<void> {
    const { names } = this.#world;
    const role = choices.of([...this.#world.roles, this.#world.heir]);
    const mutation = makeMutation(choices, new Sight(this.#world, role), role);
    if (!mutation) return;
    const variables = makeVariables(choices);
    const request = mutationRequest(mutation, choices, names);
    const asked = { role, request, shape: mutationShape(mutation, names) };
    const theirs = await answerOf(this.#plain.engine, request, role, variables);
    const ours = await answerOf(this.#cluster.engine, request, role, variables);
    const isRefused = 'code' in ours && ours.code === UNSUPPORTED;
    const isSameKey = 'code' in theirs && theirs.message.includes(SAME_KEY);
    if (isRefused) this.refused += 1;
    const areAlike =
      !isRefused && !isSameKey && this.#areAlike(asked, ours, theirs) && (await this.#haveSameRows(asked));
    if (areAlike && 'text' in ours) this.mutations += 1;
    if (!areAlike) for (const { url } of [this.#plain, this.#cluster]) await restore(url, this.#world);
  }

  #areAlike({ role, request, shape }: Asked, ours: Answer, theirs: Answer): boolean {
    // The texts of errors may differ, since a shard raises its own.
    if ('code' in ours && 'code' in theirs) return true;
    try {
      mustAgree({ role, request, sql: '' }, ours, dataOf(theirs), shape);
      return true;
    } catch (error) {
      this.problems.push((error as Error).message);
      return false;
    }
  }

  async #haveSameRows({ role, request }: Asked): Promise<boolean> {
    const ours = await contentsOf(this.#cluster.client, this.#world);
    const theirs = await contentsOf(this.#plain.client, this.#world);
    if (ours === theirs) return true;
    this.problems.push(`the rows differ after ${describe({ role, request, sql: '' }, ours, theirs)}`);
    return false;
  }
}

/** Returns the world without what a cluster refuses whatever the distribution: foreign keys and unique constraints that do not have the
 *  distribution column, functions that read tables, and updates of the distribution column. Relationships are declared by their columns.
 *  Checks do not look at other rows, since a cluster checks rows after they are written. */
function loosened(world: World): World {
  for (const table of world.tables) {
    for (const each of table.relationships) Object.assign(each, { using: 'manual' });
    Object.assign(table, { foreignKeys: [], unique: null, partial: null });
    for (const { permissions } of [...world.roles, world.heir]) {
      const { insert, update } = permissions.get(table)!;
      for (const may of [insert, update]) {
        if (may?.check && looksAround(may.check)) Object.assign(may, { check: EVERYTHING });
      }
      if (update) Object.assign(update, { columns: update.columns.filter((each) => each !== table.key[0]) });
    }
  }
  return Object.assign(world, { functions: [] });
}

/** Returns statements that distribute the tables at random: by the first column of the key, colocated or not. */
function distributionSql({ tables }: World, choices: Choices): readonly string[] {
  const real = tables.filter(({ of }) => of === null);
  return [
    `select create_reference_table('public.${ENUM_TABLE.name}')`,
    ...real.flatMap((table) => choices.of(WAYS)(table)),
  ];
}

const WAYS: readonly ((table: Table) => readonly string[])[] = [
  ({ name, key }) => [`select create_distributed_table('public.${name}', '${key[0]!.name}')`],
  ({ name, key }) => [`select create_distributed_table('public.${name}', '${key[0]!.name}')`],
  ({ name, key }) => [
    `select create_distributed_table('public.${name}', '${key[0]!.name}', colocate_with => 'none')`,
  ],
  ({ name }) => [`select create_reference_table('public.${name}')`],
  () => [],
];
