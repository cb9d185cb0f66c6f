/** Hostile input, ten thousand pieces a run: no statement ever contains a value, every name in it is quoted, nothing fails
 *  in a way nobody foresaw, and what is in Postgres stays as it was. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { EngineError } from '../errors/engine-error.ts';
import { type AnswerContext, answer } from '../execute/answer.ts';
import { answerEndpoint } from '../execute/endpoint.ts';
import { type Body, bodyText } from '../execute/splice.ts';
import { parseJson } from '../json/parse-json.ts';
import { captured } from './testing/captured.ts';
import { Choices } from './testing/choices.ts';
import { engineOn } from './testing/engine-on.ts';
import { NAME_TOKEN } from './testing/hostile.ts';
import { type HostileRequest, makeHostileRequest } from './testing/hostile-request.ts';
import { makeHostileWorld } from './testing/hostile-world.ts';
import { check, MOST_MS } from './testing/property.ts';

/** Nobody can guess it, so where it appears it has been carried. */
const MARKER = `m${randomBytes(6).toString('hex')}`;

test(
  'hostile requests are refused, or run without a value in a statement',
  async () => {
    await check({ world: 200, request: 400, requests: 600 }, 17, async ({ world: ofWorld, requests }) => {
      const database = await createDatabase();
      const world = makeHostileWorld(new Choices(ofWorld), MARKER);
      await database.sql(world.sql);
      const { model, sources } = await engineOn(database.url, world.source);
      const { databases, taken } = captured(sources);
      try {
        for (const numbers of requests) {
          const request = makeHostileRequest(new Choices(numbers), world, MARKER);
          const role = request.isAdmin ? 'admin' : world.role;
          const session = { role, variables: request.session, mayUseBackendOnly: false };
          const context = { model, session, databases };
          const asked = request.isRest ? askEndpoint(request, context) : answer(request, context);
          const outcome = await asked.then(bodyText, (error) => error);
          const statements = taken();
          expect(problemsOf(outcome, statements), tell(request, outcome, statements)).toEqual([]);
        }
        expect(await database.sql('select * from public.canary')).toEqual([{ id: 1, song: 'cheep' }]);
      } finally {
        await sources.close();
        await database.drop();
      }
    });
  },
  MOST_MS,
);

/** The same as a REST endpoint, whose variables come as text. */
async function askEndpoint({ query, variables }: HostileRequest, context: AnswerContext): Promise<Body> {
  const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value ?? ''));
  const given = Object.entries(variables).map(([name, value]) => {
    return [name, (Array.isArray(value) ? value : [value]).map(textOf)] as const;
  });
  return answerEndpoint({ query }, { texts: new Map(given), values: {}, parseJson }, context);
}

/** Rows that mean: we did not foresee this. */
const UNFORESEEN = ['unexpected', 'databaseQueryFailed', 'sourceUnreachable'];

function problemsOf(outcome: unknown, statements: readonly string[]): string[] {
  const problems = statements.flatMap((text) => [
    ...(text.includes(MARKER) ? ['a value in a statement'] : []),
    ...(bare(text).includes(NAME_TOKEN) ? ['a name without quotes'] : []),
  ]);
  if (typeof outcome === 'string') {
    JSON.parse(outcome);
  } else if (!(outcome instanceof EngineError)) {
    problems.push(`not foreseen: ${String(outcome)}`);
  } else {
    if (UNFORESEEN.includes(outcome.kind) || outcome.status >= 500) problems.push(`failed: ${outcome.kind}`);
    if (!outcome.codeIn('newer')) problems.push('no code');
  }
  return problems;
}

/** What is neither a quoted identifier nor a string. PostgreSQL manual, "Lexical Structure". */
function bare(statement: string): string {
  return statement.replaceAll(/"(?:[^"]|"")*"|'(?:[^']|'')*'/g, '?');
}

function tell(request: HostileRequest, outcome: unknown, statements: readonly string[]): string {
  const { internal } = outcome as { internal?: unknown };
  const told = [
    request.query.slice(0, 3000),
    JSON.stringify(request).slice(0, 3000),
    String(outcome).slice(0, 500),
  ];
  return [...told, JSON.stringify(internal ?? null).slice(0, 3000), ...statements].join('\n');
}
