/** A random world on a plain Postgres and on a Citus cluster, and requests to both. In: the world and where it is. Out: the requests that were
 *  answered alike, and the problems: answers that differ, and rows that differ after a mutation. Not here: the worlds (random.ts, tenants.ts). */
import pg from 'pg';
import { describe, mustAgree } from '../../engine/oracle/testing/agree.ts';
import { type Answer, makeVariables, type Variables } from '../../engine/oracle/testing/arena.ts';
import type { Choices } from '../../engine/oracle/testing/choices.ts';
import { type EngineRooms, engineOn } from '../../engine/oracle/testing/engine-on.ts';
import type { Shape } from '../../engine/oracle/testing/json.ts';
import { metadataRoles, metadataSource } from '../../engine/oracle/testing/metadata.ts';
import { makeMutation } from '../../engine/oracle/testing/mutation.ts';
import { mutationRequest, mutationShape } from '../../engine/oracle/testing/mutation-text.ts';
import { queryRequest, queryShape, type Request } from '../../engine/oracle/testing/query-text.ts';
import { makeQuery, Sight } from '../../engine/oracle/testing/request.ts';
import type { World } from '../../engine/oracle/testing/world.ts';
import type { Role } from '../../engine/oracle/testing/world-types.ts';
import { STRICT_RETURNING } from '../../engine/resolve/model/features.ts';
import { answerOf, contentsOf, dataOf } from './worlds.ts';

/** The error of Postgres for an upsert whose objects have the same key. A cluster writes them one after the other, and does not refuse one that its
 *  own condition excludes. */
const SAME_KEY = 'cannot affect row a second time';
/** The error of a cluster for an upsert whose own condition reads other rows. */
const UNSUPPORTED = 'distributionUnsupported';
/** Words in the error for an upsert by other rows: a role whose permission reads them has no columns to update, and a condition of the client's
 *  own has no such fields. */
const NOT_IN_SCHEMA = /_update_column|_on_conflict_bool_exp/;

export type Side = { readonly url: string; readonly engine: EngineRooms; readonly client: pg.Client };

export async function openSide(url: string, world: World): Promise<Side> {
  const engine = await engineOn(url, metadataSource(world), metadataRoles(world), [STRICT_RETURNING]);
  const client = new pg.Client(url);
  await client.connect();
  return { url, engine, client };
}

export async function closeSide({ engine, client }: Side): Promise<void> {
  await client.end();
  await engine.sources.close();
}

type Asked = { readonly role: Role | null; readonly request: Request; readonly shape: Shape };

/** The part of a cluster that is compared with the plain Postgres. */
export type Part = {
  /** A condition on the rows of each table. */
  readonly where: string;
  /** Session variables besides those of all requests. */
  readonly variables: Variables;
};

const WHOLE: Part = { where: 'true', variables: new Map() };

export class Pair {
  readonly problems: string[] = [];
  /** The requests that were answered alike; of the mutations those without an error. */
  queries = 0;
  mutations = 0;
  /** The mutations that the cluster refuses because of the distribution. */
  refused = 0;
  readonly #world: World;
  readonly #plain: Side;
  readonly #cluster: Side;
  readonly #part: Part;

  constructor(world: World, plain: Side, cluster: Side, part = WHOLE) {
    this.#world = world;
    this.#plain = plain;
    this.#cluster = cluster;
    this.#part = part;
  }

  async query(choices: Choices, roles: readonly (Role | null)[]): Promise<void> {
    const role = choices.of(roles);
    const query = makeQuery(choices, new Sight(this.#world, role));
    if (!query) return;
    const variables = this.#variables(choices);
    const request = queryRequest(query, choices, this.#world.names);
    const ours = await answerOf(this.#cluster.engine, request, role, variables);
    const theirs = await answerOf(this.#plain.engine, request, role, variables);
    if (this.#areAlike({ role, request, shape: queryShape(query) }, ours, theirs)) this.queries += 1;
  }

  /** Returns false when the rows of both may differ afterwards. */
  async mutate(choices: Choices, roles: readonly Role[]): Promise<boolean> {
    const { names } = this.#world;
    const role = choices.of(roles);
    const mutation = makeMutation(choices, new Sight(this.#world, role), role);
    if (!mutation) return true;
    const variables = this.#variables(choices);
    const request = mutationRequest(mutation, choices, names);
    const ours = await answerOf(this.#cluster.engine, request, role, variables);
    if ('code' in ours && (ours.code === UNSUPPORTED || NOT_IN_SCHEMA.test(ours.message))) {
      this.refused += 1;
      return true;
    }
    const theirs = await answerOf(this.#plain.engine, request, role, variables);
    if ('code' in theirs && theirs.message.includes(SAME_KEY) && !('code' in ours)) return false;
    const asked = { role, request, shape: mutationShape(mutation, names) };
    const areAlike = this.#areAlike(asked, ours, theirs) && (await this.#haveSameRows(asked));
    if (areAlike && 'text' in ours) this.mutations += 1;
    return areAlike;
  }

  #variables(choices: Choices): Variables {
    return new Map([...makeVariables(choices), ...this.#part.variables]);
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
    const ours = await contentsOf(this.#cluster.client, this.#world, this.#part.where);
    const theirs = await contentsOf(this.#plain.client, this.#world);
    if (ours === theirs) return true;
    this.problems.push(`the rows differ after ${describe({ role, request, sql: '' }, ours, theirs)}`);
    return false;
  }
}
