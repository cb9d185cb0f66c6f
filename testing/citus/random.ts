/** Random worlds of the oracle, each in a plain Postgres and in a Citus cluster, where the tables are distributed, reference and local at
 *  random, and random queries and mutations of all roles to both. In: the URLs of both servers, and a seed that repeats the worlds. Out: for
 *  each world, the requests that the cluster answers differently or after which its rows differ, and whether it was refused when it was
 *  declared. Not here: how worlds and requests are chosen (engine/oracle), the requests that are written by hand (comparison.ts). */
import pg from 'pg';
import type { Choices } from '../../engine/oracle/testing/choices.ts';
import { ENUM_TABLE, makeWorld, type World } from '../../engine/oracle/testing/world.ts';
import type { Table } from '../../engine/oracle/testing/world-types.ts';
import { loosened } from './loosened.ts';
import { closeSide, openSide, Pair, type Side } from './pair.ts';
import { build, choicesOf, eachWorld, restore, type Servers, type Worlds } from './worlds.ts';

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
/** The statement in the reason of a refusal that is about a local table. */
const ADVICE = /select citus_add_local_table_to_metadata\('[^']+'\)/;

export function randomWorlds(servers: Servers, worlds: Worlds): AsyncGenerator<WorldVerdict> {
  return eachWorld(servers, worlds, runWorld);
}

async function runWorld(servers: Servers, seed: number, number: number): Promise<WorldVerdict> {
  const choices = choicesOf(seed, number);
  const world = loosened(makeWorld(choices(1600)));
  await build(servers.postgresUrl, world, []);
  await build(servers.citusUrl, world, distributionSql(world, choices(100)));
  const plain = await openSide(servers.postgresUrl, world);
  try {
    const cluster = await openCluster(servers.citusUrl, world);
    if (typeof cluster === 'string') {
      const problems = cluster.includes(REFUSED) ? [] : [cluster];
      return { world: number, refusal: cluster, queries: 0, mutations: 0, refused: 0, problems };
    }
    try {
      const pair = new Pair(world, plain, cluster);
      const roles = [...world.roles, world.heir];
      for (let i = 0; i < QUERIES; i++) await pair.query(choices(300), [...roles, null]);
      for (let i = 0; i < MUTATIONS; i++) {
        if (await pair.mutate(choices(300), roles)) continue;
        for (const { url } of [plain, cluster]) await restore(url, world);
      }
      const { queries, mutations, refused, problems } = pair;
      return { world: number, refusal: null, queries, mutations, refused, problems };
    } finally {
      await closeSide(cluster);
    }
  } finally {
    await closeSide(plain);
  }
}

/** Opens the cluster, and does what the reasons of refusals say for local tables that Citus does not know. Returns another reason. */
async function openCluster(url: string, world: World): Promise<Side | string> {
  for (let left = world.tables.length; ; left--) {
    const side = await openSide(url, world).catch((error: Error) => error.message);
    const advice = typeof side === 'string' && ADVICE.exec(side)?.[0];
    if (!advice || left === 0) return side;
    const client = new pg.Client(url);
    await client.connect();
    await client.query(advice).finally(() => client.end());
  }
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
