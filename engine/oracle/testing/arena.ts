/** Two who answer: the engine, and Postgres itself under policies and grants. One database, whose schema each world replaces;
 *  database roles belong to the run. In: worlds and requests. Out: answers as text, or why there is none. */

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { createDatabase } from '../../../testing/database.ts';
import type { Databases } from '../../database/databases.ts';
import { EngineError } from '../../errors/engine-error.ts';
import { answer } from '../../execute/answer.ts';
import { bodyText } from '../../execute/splice.ts';
import { STRICT_RETURNING } from '../../resolve/model/features.ts';
import type { Model } from '../../resolve/model/model.ts';
import { ADMIN_ROLE, type Session } from '../../resolve/session.ts';
import type { Choices } from './choices.ts';
import { sessionVariableOf, settingOf } from './condition.ts';
import { engineOn } from './engine-on.ts';
import { metadataRoles, metadataSource } from './metadata.ts';
import { databaseRoles, type Names, schemaSql } from './policies.ts';
import type { Request } from './query-text.ts';
import { arrayText, COLUMN_TYPES } from './types.ts';
import { INHERITED, ROLES, type World } from './world.ts';
import type { Role } from './world-types.ts';

/** An answer's text, or an error. */
export type Answer = { readonly text: string } | { readonly code: string; readonly message: string };

/** Of a request: one value and one array for every type that text can say. */
export type Variables = ReadonlyMap<string, { readonly setting: string; readonly value: string }>;

export function makeVariables(choices: Choices): Variables {
  return new Map(
    COLUMN_TYPES.flatMap((type) => {
      const one = choices.of(type.values).text;
      const many = arrayText(choices.some(type.values, 40).map(({ text }) => text));
      return [
        [sessionVariableOf(type, false), { setting: settingOf(type, false), value: one }],
        [sessionVariableOf(type, true), { setting: settingOf(type, true), value: many }],
      ] as const;
    }),
  );
}

export type Engine = {
  readonly ask: (request: Request, role: Role | null, variables: Variables) => Promise<Answer>;
  readonly model: Model;
  readonly databases: Databases;
  readonly close: () => Promise<void>;
};

export type Arena = {
  readonly url: string;
  readonly names: Names;
  /** As superuser. */
  readonly owner: pg.Client;
  /** Makes the world in the database. */
  readonly build: (world: World) => Promise<void>;
  /** Starts an engine on the world that is there. It sends the statements for a Citus cluster if `isCluster`; the answers are the same. */
  readonly engine: (world: World, isCluster?: boolean) => Promise<Engine>;
  /** Runs SQL as a database role (null: as superuser), in a transaction that is rolled back. */
  readonly reference: (sql: string, role: string | null, variables: Variables) => Promise<Answer>;
  readonly close: () => Promise<void>;
};

export async function openArena(): Promise<Arena> {
  const database = await createDatabase();
  const names = databaseRoles(randomBytes(4).toString('hex'));
  const owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  const users = [...ROLES, INHERITED].flatMap((role) => [names.reader(role), names.writer(role)]);
  for (const user of users) await owner.query(`create role ${user}`);
  return {
    url: database.url,
    names,
    owner,
    build: async (world) => {
      await owner.query(schemaSql(world, names));
    },
    engine: (world, isCluster = false) => openEngine(database.url, world, isCluster),
    reference: async (sql, role, variables) => {
      try {
        await owner.query(beginSql(role, variables));
        const result = await owner.query<{ data: string }>(sql);
        return { text: result.rows[0]!.data };
      } catch (error) {
        return refusal(error);
      } finally {
        await owner.query('rollback');
      }
    },
    close: async () => {
      await owner.query(`drop owned by ${users.join(', ')}; drop role ${users.join(', ')}`);
      await owner.end();
      await database.drop();
    },
  };
}

export function beginSql(role: string | null, variables: Variables): string {
  const settings = [...variables.values()].map(
    ({ setting, value }) => `set_config(${pg.escapeLiteral(setting)}, ${pg.escapeLiteral(value)}, true)`,
  );
  return `begin; select ${settings.join(', ')};${role ? ` set local role ${role};` : ''}`;
}

export function refusal(error: unknown): Answer {
  const { code, message } = error as { code?: string; message: string };
  return { code: code ?? 'none', message };
}

async function openEngine(url: string, world: World, isCluster: boolean): Promise<Engine> {
  // Under policies, Postgres returns only rows that the role may read.
  const features = [STRICT_RETURNING];
  const { model, sources } = await engineOn(
    url,
    metadataSource(world),
    metadataRoles(world),
    features,
    isCluster,
  );
  return {
    model,
    databases: sources,
    ask: async ({ query, variables: given }, role, variables) => {
      const session = sessionOf(role, variables);
      return answer({ query, variables: given }, { model, session, databases: sources }).then(
        (body) => ({ text: bodyText(body) }),
        (error: unknown) => {
          if (!(error instanceof EngineError)) throw error;
          return { code: error.kind, message: `${error.message} ${JSON.stringify(error.internal ?? '')}` };
        },
      );
    },
    close: () => sources.close(),
  };
}

export function sessionOf(role: Role | null, variables: Variables): Session {
  const name = role?.name ?? ADMIN_ROLE;
  const own = [...variables].map(([key, { value }]) => [`x-engine-${key}`, value] as const);
  return {
    role: name,
    variables: { ...Object.fromEntries(own), 'x-engine-role': name },
    mayUseBackendOnly: false,
  };
}
