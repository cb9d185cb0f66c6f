/** Non-interference of tenants: random worlds of many tenants in a Citus cluster, whose roles read and write the rows of their tenant, and random
 *  queries and mutations of these roles. A database of a plain Postgres has the rows of one tenant only, so that what a request of the
 *  tenant must answer depends on no other tenant. In: the URLs of both servers, and a seed. Out: for each world, the requests that the cluster
 *  answers differently, after which it stores other rows of the tenant, or after which a row of another tenant differs.
 *  Not here: worlds whose tables have nothing in common (random.ts). */
import { sessionVariableOf, settingOf } from '../../engine/oracle/testing/condition.ts';
import { makeWorld, type World } from '../../engine/oracle/testing/world.ts';
import { loosened } from './loosened.ts';
import { closeSide, openSide, Pair, type Side } from './pair.ts';
import { distributionByTenant, rowsOfTenant, TENANT, TENANTS, tenanted } from './tenant-world.ts';
import { build, choicesOf, contentsOf, eachWorld, restore, type Servers, type Worlds } from './worlds.ts';

export type TenantsVerdict = {
  readonly world: number;
  /** The requests that were answered as without other tenants. */
  readonly queries: number;
  readonly mutations: number;
  readonly problems: readonly string[];
};

/** The requests of each tenant of a world. */
const QUERIES = 20;
const MUTATIONS = 12;

export function tenantWorlds(servers: Servers, worlds: Worlds): AsyncGenerator<TenantsVerdict> {
  return eachWorld(servers, worlds, runWorld);
}

async function runWorld(servers: Servers, seed: number, number: number): Promise<TenantsVerdict> {
  const choices = choicesOf(seed, number);
  const world = tenanted(loosened(makeWorld(choices(1600))), choices(3000));
  await build(servers.citusUrl, world, distributionByTenant(world, choices(100)));
  await build(servers.postgresUrl, world, []);
  const plain = await openSide(servers.postgresUrl, world);
  const cluster = await openSide(servers.citusUrl, world);
  const sums = { world: number, queries: 0, mutations: 0, problems: [] as string[] };
  try {
    for (const tenant of TENANTS) {
      const { queries, mutations, problems } = await runTenant(world, tenant, {
        plain,
        cluster,
        choices,
      });
      sums.queries += queries;
      sums.mutations += mutations;
      sums.problems.push(...problems.map((problem) => `tenant ${tenant}: ${problem}`));
    }
  } finally {
    await closeSide(plain);
    await closeSide(cluster);
  }
  return sums;
}

type Run = { readonly plain: Side; readonly cluster: Side; readonly choices: ReturnType<typeof choicesOf> };

async function runTenant(world: World, tenant: number, { plain, cluster, choices }: Run): Promise<Pair> {
  const value = { setting: settingOf(TENANT, false), value: String(tenant) };
  const variables = new Map([[sessionVariableOf(TENANT, false), value]]);
  const pair = new Pair(world, plain, cluster, { where: `tenant = ${tenant}`, variables });
  const roles = [...world.roles, world.heir];
  const restored = async () => {
    await restore(cluster.url, world);
    await restore(plain.url, rowsOfTenant(world, tenant));
    return contentsOf(cluster.client, world, `tenant <> ${tenant}`);
  };
  let others = await restored();
  const checkOthers = async () => {
    const now = await contentsOf(cluster.client, world, `tenant <> ${tenant}`);
    if (now !== others) pair.problems.push(`rows of others have changed: ${others}\ninto ${now}`);
  };
  for (let i = 0; i < MUTATIONS; i++) {
    await pair.query(choices(300), roles);
    if (await pair.mutate(choices(300), roles)) continue;
    await checkOthers();
    others = await restored();
  }
  for (let i = MUTATIONS; i < QUERIES; i++) await pair.query(choices(300), roles);
  await checkOthers();
  return pair;
}
