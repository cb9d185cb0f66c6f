/** POST /v1alpha1/pg_dump, for administrators: `{opts, clean_output?, source?}` → a database as SQL text.
 *  Not here: the program (database/pg-dump.ts). Reference: docs/reference/behaviour/endpoints.md. */
import type { FastifyInstance } from 'fastify';
import { cleanDump, forbiddenOption, pgDump } from '../database/pg-dump.ts';
import { tlsOfParameters } from '../database/tls.ts';
import { EngineError, fail } from '../errors/engine-error.ts';
import { isRecord } from '../json/value.ts';
import type { HttpContext } from './context.ts';
import { adminSessionOf, recordOf } from './request-record.ts';

export function pgDumpRoutes(app: FastifyInstance, { state }: HttpContext): void {
  app.post('/v1alpha1/pg_dump', async (request, reply) => {
    adminSessionOf(request);
    const { options, isClean, source: name } = dumpRequestFrom(request.body);
    const source = state.snapshot().metadata.sources.find((one) => one.name === name);
    if (!source) throw new EngineError('dumpSourceNotFound', { name: JSON.stringify(name) });
    const { sources } = state;
    const sql = await pgDump(
      sources.address(source),
      sources.tls(source) ?? tlsOfParameters(sources.address(source).target.parameters),
      options,
      process.env,
      recordOf(request).signal.toAbortSignal(),
    );
    return reply.type('application/sql; charset=utf-8').send(isClean ? cleanDump(sql) : sql);
  });
}

type DumpRequest = {
  readonly options: readonly string[];
  readonly isClean: boolean;
  readonly source: string;
};

function dumpRequestFrom(body: unknown): DumpRequest {
  if (!isRecord(body)) return fail('parseFailed', { text: 'expected an object' });
  const { opts, clean_output: isClean = false, source = 'default' } = body;
  if (!Array.isArray(opts) || !opts.every((option) => typeof option === 'string')) {
    fail('parseFailed', { text: 'expected an array of strings' }, { path: ['opts'] });
  }
  if (typeof isClean !== 'boolean')
    fail('parseFailed', { text: 'expected a boolean' }, { path: ['clean_output'] });
  if (typeof source !== 'string') fail('parseFailed', { text: 'expected a string' }, { path: ['source'] });
  const forbidden = forbiddenOption(opts);
  if (forbidden !== undefined) {
    const text = `the option ${forbidden} of pg_dump is not allowed here`;
    fail('badRequest', { text }, { path: ['opts', opts.indexOf(forbidden)] });
  }
  return { options: opts, isClean, source };
}
