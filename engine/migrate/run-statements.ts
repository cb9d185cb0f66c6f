/** Runs the statements of a *.sql file one by one, so that an error of one that has no position, such as a division by zero, has a line too.
 *  In: a connection with an open transaction. Raises Error with the file and the line.
 *  Not here: versions and their record (run-file.ts). */
import type { ClientBase } from 'pg';
import { oneStatement } from '../database/one-statement.ts';
import { SHARDS_ONE_BY_ONE_IN_CLUSTER } from '../database/session-settings.ts';
import { finish } from '../metadata/steps.ts';
import { migrationSteps, psqlProblem } from './migration.ts';
import { linesBefore } from './migration-failure.ts';

export async function runStatements(client: ClientBase, text: string, file: string): Promise<void> {
  await client.query(SHARDS_ONE_BY_ONE_IN_CLUSTER);
  const { statements } = finish(migrationSteps({ version: '0', name: file, file }, text));
  for (let i = 0; i < statements.length; i++) {
    const statement = statements.at(i);
    const problem = psqlProblem(statement);
    if (problem !== undefined) throw new Error(`${file}:${statements.lineOf(i)}: the statement ${problem}`);
    try {
      await client.query(oneStatement(statement));
    } catch (error) {
      const line = statements.lineOf(i) + linesBefore(statement, error);
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`${file}:${line}: ${message}`, { cause: error });
    }
  }
}
