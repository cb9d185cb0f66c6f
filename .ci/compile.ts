/** Times the compile step of the benchmark's queries on the Chinook database, as the administrator. In: the data and bench folders
 *  (--shared). Out: a line for each query. Not here: how a step is timed (engine/bench/step.ts). */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { printSteps } from '../engine/bench/step.ts';
import { engineOn } from '../engine/oracle/testing/engine-on.ts';
import { roleSchema } from '../engine/schema/role-schemas.ts';
import { writeRecord } from './record.ts';

type BenchQuery = {
  readonly name: string;
  readonly variants: readonly Record<string, unknown>[];
  readonly engine: { readonly query: string };
};

const { values: options } = parseArgs({
  options: {
    shared: { type: 'string', default: '../shared' },
    /** The file for the figures, such as docs/speed/compile.json. */
    out: { type: 'string' },
  },
});
const shared = resolve(options.shared);
process.env['BENCH_HOME'] ??= join(shared, 'bench');
const { queries } = (await import(join(shared, 'bench/queries/queries.mjs'))) as { queries: BenchQuery[] };
const file = readFileSync(join(shared, 'data/chinook/replace_metadata.json'), 'utf8');
const { args } = JSON.parse(file) as { args: { metadata: { sources: [{ tables: unknown[] }] } } };
const folder = mkdtempSync(join(tmpdir(), 'pergola-compile-'));
const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
try {
  // The dump is in a Windows code page.
  execFileSync('psql', ['-q', postgres.url], {
    input: gunzipSync(readFileSync(join(shared, 'data/chinook/dump.sql.gz'))),
    env: { ...process.env, PGCLIENTENCODING: 'WIN1252' },
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const { model, sources } = await engineOn(postgres.url, { tables: args.metadata.sources[0].tables });
  const ofBench = queries.map(({ name, variants, engine }) => ({
    name,
    text: engine.query,
    variables: variants[0] ?? {},
  }));
  const steps = printSteps(
    roleSchema(model, 'admin', false),
    ofBench.filter(({ name }) => name !== 'introspection'),
  );
  if (options.out) writeRecord(options.out, steps);
  await sources.close();
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
