/** Runs the only root of a plan on a connection in an open transaction: rows beside SQL and metadata in one admin request. Sends the
 *  session for triggers. Out: the value, with every digit that Postgres wrote.
 *  Raises the errors of Postgres as ERRORS rows. Not here: plans of requests (answer.ts). */
import type pg from 'pg';
import { sqlStateOf } from '../database/pg-errors.ts';
import { type NamedStatement, runOn } from '../database/pool.ts';
import { SET_SESSION, SHARDS_ONE_BY_ONE, sessionSettings } from '../database/session-settings.ts';
import { fail } from '../errors/engine-error.ts';
import { parseJson } from '../json/parse-json.ts';
import type { Plan } from '../plan/types.ts';
import type { Model } from '../resolve/model/model.ts';
import type { Session } from '../resolve/session.ts';
import { mayHoldNull, READ_NULLS } from '../wire/null-elements.ts';
import { TimeIsUp } from '../wire/patience.ts';
import { preparedOnce } from './plan-cache.ts';
import { bodyText, sizeOfBody, splice } from './splice.ts';
import { write } from './statements.ts';

const QUERY_CANCELED = '57014';

export async function answerOn(
  client: pg.ClientBase,
  plan: Plan,
  {
    sources,
    session,
    limitMs,
    mostBytes: most,
  }: Pick<Model, 'sources'> & {
    readonly session: Session;
    readonly limitMs: number | null;
    readonly mostBytes: number | null;
  },
): Promise<unknown> {
  const { statements, template } = preparedOnce(plan, { sources, session });
  const [statement] = statements;
  if (!statement) throw new Error('a plan of one root has a statement');
  if (limitMs !== null) await client.query(`set local statement_timeout = ${limitMs}`);
  await client.query(SET_SESSION.text, sessionSettings(session));
  if (statement.isOnCluster) await client.query(SHARDS_ONE_BY_ONE.text);
  const run = async ({ text }: NamedStatement, values: readonly unknown[]) => {
    if (mayHoldNull(values)) await client.query(READ_NULLS);
    return runOn(client, { name: '', text }, values).catch((error: unknown) => {
      throw limitMs !== null && sqlStateOf(error) === QUERY_CANCELED ? new TimeIsUp(limitMs) : error;
    });
  };
  // The arguments are not GraphQL's: a failure is reported at the operation.
  const row = await write(run, { ...statement, errorPath: [] }, { session, variables: {} });
  const body = splice(template, [row]);
  if (most !== null && sizeOfBody(body) > most) fail('responseTooLarge', { most, note: '' });
  const { data } = parseJson(bodyText(body)) as { readonly data: object };
  return Object.values(data)[0];
}
