/** Where Postgres does a mutation: a transaction in which statements run as a role that writes, as one that reads, or as the
 *  owner. Not here: what is run (mutation-sql.ts, insert-sql.ts, update-sql.ts). */

import type pg from 'pg';
import { settingOf } from './condition.ts';
import { literal, toSql } from './condition-sql.ts';
import { cellsView, type Names as Users, writeGround } from './policies.ts';
import type { Sight } from './request.ts';
import type { Condition, Permissions, Preset, Role, Table } from './world-types.ts';

export type Scene = {
  readonly client: pg.ClientBase;
  readonly names: Users;
  readonly role: Role;
  readonly sight: Sight;
  /** Everything that was run. */
  readonly log: string[];
};

export type Rows = readonly Readonly<Record<string, unknown>>[];

/** Of the rows a statement of the writer has written, their numbers. */
export async function numbersOf(sql: string, scene: Scene): Promise<number[]> {
  const rows = await as(scene.names.writer(scene.role.name), sql, scene);
  return rows.map((row) => Number(row['#']));
}

export const asReader = (sql: string, scene: Scene): Promise<Rows> =>
  as(scene.names.reader(scene.role.name), sql, scene);
export const asOwner = (sql: string, scene: Scene): Promise<Rows> => as('none', sql, scene);

async function as(role: string, sql: string, { client, log }: Scene): Promise<Rows> {
  log.push(`set role ${role}; ${sql}`);
  await client.query(`set local role ${role}`);
  const { rows } = await client.query<Record<string, unknown>>(sql);
  await client.query('set local role none');
  return rows;
}

export function permissionsOf(table: Table, { role }: Scene): Permissions {
  return role.permissions.get(table)!;
}

/** What a client asks of the row x that is written. An heir asks of its cells. */
export function matching(where: Condition, table: Table, { role }: Scene): string {
  const hasCells = role.parents.length > 0 && role.permissions.get(table)!.select !== null;
  if (!hasCells) return toSql(where, writeGround(role), 'x');
  const holds = toSql(where, writeGround(role), 'y');
  return `x."#" in (select y."#" from ${cellsView(table, role)} y where ${holds})`;
}

export function presetSql({ column, value, isSession }: Preset): string {
  const { type } = column;
  return isSession ? `current_setting('${settingOf(type, false)}')::${type.sql}` : literal(value, type);
}
