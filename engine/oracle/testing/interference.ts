/** Non-interference: two databases that differ only in what a role does not see answer each of its requests alike, data, errors
 *  and their texts, counts included. In: a Postgres, a seed. Out: for each world how many requests were answered alike, and
 *  each that was not, with as few changes of the database as it takes.
 *  The order of rows that nobody has ordered, and values of sequences, are no part of an answer: lists without an order are
 *  compared as sets. Statistics are the same on both sides: an invalid pattern raises an error when the first visible row
 *  reaches it, and which condition a visible row reaches first depends on the plan. Not here: worlds (world.ts, raising.ts), changes (hidden-changes.ts), requests (ways.ts). */

import pg from 'pg';
import { randomBits } from '../../../testing/random-bits.ts';
import { EngineError, printPath } from '../../errors/engine-error.ts';
import { makeVariables, sessionOf } from './arena.ts';
import type { Asked, Side } from './asked.ts';
import { Choices, LARGEST } from './choices.ts';
import { engineOn, sourcesOn } from './engine-on.ts';
import { changeHidden, makeChanges, type Occasion } from './hidden-changes.ts';
import { metadataRoles, metadataSource } from './metadata.ts';
import { rowsSql, tablesSql } from './policies.ts';
import { makeRaisingWorld, raisingFunctions, raisingSql, temptedSight } from './raising.ts';
import { WAYS, type WayName } from './ways.ts';

export type Difference = {
  readonly seed: number;
  readonly world: number;
  readonly way: WayName;
  readonly role: string;
  readonly request: string;
  /** The changes made to the second database. */
  readonly changes: readonly string[];
  readonly answers: readonly [string, string];
};

export type WorldResult = {
  readonly world: number;
  /** Requests by their way; `refused` are those whose answers are errors. */
  readonly counts: Readonly<Record<string, { asked: number; refused: number }>>;
  readonly differences: readonly Difference[];
};

const OCCASIONS = 12;
const REQUESTS = 25;
/** How many requests there are in a world, about. */
export const WORLD_SIZE = OCCASIONS * REQUESTS;

/** The worlds from `from` on, without an end. */
export async function* interference(
  serverUrl: string,
  { seed, from = 0 }: { readonly seed: number; readonly from?: number },
): AsyncGenerator<WorldResult> {
  const name = `interference_${process.pid}_${Date.now().toString(36)}`;
  const databases = [`${name}_a`, `${name}_b`] as const;
  await onServer(serverUrl, ...databases.map((each) => `create database ${each}`));
  const urls = databases.map((each) => Object.assign(new URL(serverUrl), { pathname: `/${each}` }).href);
  const clients = urls.map((connectionString) => new pg.Client({ connectionString }));
  try {
    for (const client of clients) {
      await client.connect();
      await client.query('set client_min_messages = warning');
    }
    for (let world = from; ; world++) yield await runWorld({ seed, world, urls, clients });
  } finally {
    for (const client of clients) await client.end();
    await onServer(serverUrl, ...databases.map((each) => `drop database ${each} with (force)`));
  }
}

async function onServer(connectionString: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

type Setting = {
  readonly seed: number;
  readonly world: number;
  readonly urls: readonly string[];
  readonly clients: readonly pg.Client[];
};

async function runWorld({ seed, world: number, urls, clients }: Setting): Promise<WorldResult> {
  const random = randomOf(seed * 1_000_003 + number);
  const choices = (count: number) => new Choices(Array.from({ length: count }, random));
  const world = makeRaisingWorld(choices(1700));
  // Statistics made in between would change plans, and with them which of two errors comes first.
  const still = world.tables
    .filter(({ of }) => of === null)
    .map(({ name }) => `alter table public.${name} set (autovacuum_enabled = false)`);
  const schema = [...tablesSql(world, raisingFunctions()), ...raisingSql(world), ...still, 'analyze'].join(
    ';\n',
  );
  // Both have the statistics of the same rows, and tables that were truncated since.
  await Promise.all(clients.map((client) => client.query(schema).then(() => client.query(rowsSql(world)))));
  const source = metadataSource(world);
  const { model, sources } = await engineOn(urls[0]!, source, metadataRoles(world));
  const others = sourcesOn(urls[1]!, source);
  const counts: Record<string, { asked: number; refused: number }> = {};
  const differences: Difference[] = [];
  try {
    for (let i = 0; i < OCCASIONS; i++) {
      const given = choices(200);
      const role = given.of([...world.roles, world.heir]);
      const occasion = { world, role, variables: makeVariables(given) };
      await clients[1]!.query(rowsSql(world));
      const changes = await changeHidden(clients[1]!, occasion, choices(400));
      const session = sessionOf(role, occasion.variables);
      const sides = [sources, others].map((databases): Side => ({ model, databases, session }));
      const sight = temptedSight(world, role);
      for (let j = 0; j < REQUESTS; j++) {
        const own = choices(300);
        const way = own.of(Object.keys(WAYS) as WayName[]);
        const asked = WAYS[way](own, sight);
        if (!asked) continue;
        const [one, other] = await answersOf(asked, sides);
        const { asked: all, refused } = counts[way] ?? { asked: 0, refused: 0 };
        counts[way] = { asked: all + 1, refused: refused + (one!.startsWith('{"error":') ? 1 : 0) };
        if (one === other) continue;
        const client = clients[1]!;
        const fewest = await fewestChanges(changes, client, { occasion, asked, sides });
        differences.push({ seed, world: number, way, role: role.name, request: asked.text, ...fewest });
        await restored(client, occasion, changes);
      }
    }
  } finally {
    await Promise.all([sources.close(), others.close()]);
  }
  return { world: number, counts, differences };
}

function answersOf(asked: Asked, sides: readonly Side[]): Promise<string[]> {
  return Promise.all(sides.map((side) => answerOf(asked, side)));
}

/** An error is what a role is told of it. */
async function answerOf({ run }: Asked, side: Side): Promise<string> {
  try {
    return JSON.stringify({ data: await run(side) });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return JSON.stringify({ error: [error.codeIn('newer'), error.message, printPath(error.path)] });
  }
}

/** False when a change needs another that was left out. */
async function restored(client: pg.Client, occasion: Occasion, changes: readonly string[]): Promise<boolean> {
  await client.query(rowsSql(occasion.world));
  try {
    await makeChanges(client, occasion, changes);
    return true;
  } catch {
    await client.query('rollback');
    return false;
  }
}

type Found = { readonly occasion: Occasion; readonly asked: Asked; readonly sides: readonly Side[] };

/** Leaves out one change after the other while the answers still differ. */
async function fewestChanges(
  changes: readonly string[],
  client: pg.Client,
  { occasion, asked, sides }: Found,
): Promise<Pick<Difference, 'changes' | 'answers'>> {
  let kept = changes;
  for (const change of changes) {
    const without = kept.filter((each) => each !== change);
    if (!(await restored(client, occasion, without))) continue;
    const [one, other] = await answersOf(asked, sides);
    if (one !== other) kept = without;
  }
  await restored(client, occasion, kept);
  const [one = '', other = ''] = await answersOf(asked, sides);
  return { changes: kept, answers: [one, other] };
}

/** Returns numbers from 0 to LARGEST. */
function randomOf(seed: number): () => number {
  const bits = randomBits(seed);
  return () => bits() % (LARGEST + 1);
}

/** A difference as it is told, with how to see it again. */
export function describeDifference({
  seed,
  world,
  way,
  role,
  request,
  changes,
  answers,
}: Difference): string {
  return [
    `npm run noninterference -- --seed ${seed} --world ${world} --queries 1`,
    `${way} as ${role}: ${request}`,
    ...changes.map((change) => `  second database: ${change}`),
    `  first answers:  ${answers[0].slice(0, 800)}`,
    `  second answers: ${answers[1].slice(0, 800)}`,
  ].join('\n');
}
