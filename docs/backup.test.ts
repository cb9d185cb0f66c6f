/** Rehearses a disaster by the commands of docs/guides/installing.md: the metadata database and the key of the named values are saved, lost, and restored. The
 *  engine then has the same metadata, and reads a named value. In: an installed Postgres with pg_dump and pg_restore, a real API server.
 *  Not here: what else may be lost (operator/kubernetes). */
import { execFile } from 'node:child_process';
import { chmodSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { commandsOf } from '../deploy/e2e/guide.ts';
import { startTestEngine, type TestEngine } from '../testing/engine.ts';
import { kubeBinaries } from '../testing/kube/binaries.ts';
import { describeKube } from '../testing/kube.ts';

const BINARIES = globSync('/usr/lib/postgresql/*/bin/pg_restore').toSorted().map(dirname).at(-1);
const REASON = BINARIES === undefined ? ' (skipped: no Postgres with pg_restore is installed)' : '';
const KEY = 'a-key-of-at-least-thirty-two-characters';
const [FIRST = '', REHEARSAL = ''] = commandsOf('installing.md', 'Backup, and when something is lost');
const [SAVE = '', RESTORE = ''] = FIRST.split('\n\n');
const PERGOLA = `pergola() { exec ${process.execPath} ${resolve('bin/pergola.mjs')} "$@"; }; trap 'jobs -p | xargs -r kill' EXIT;`;

await describeKube('the metadata database and its key', (kube) => {
  const folder = mkdtempSync('/var/tmp/pergola-backup-');
  let postgres: EmbeddedPostgres | undefined;
  let engine: TestEngine | undefined;

  beforeAll(async () => {
    if (BINARIES === undefined) return;
    // Postgres of root runs as another user.
    chmodSync(folder, 0o755);
    postgres = await startEmbeddedPostgres({
      folder: join(folder, 'postgres'),
      isDurable: false,
      binaries: BINARIES,
    });
    await kube().kubectl(['create', 'namespace', 'api']);
    // What the operator and the chart create.
    await kube().kubectl([
      '-n',
      'api',
      'create',
      'secret',
      'generic',
      'pergola-values-key',
      `--from-literal=values-key=${KEY}`,
    ]);
    await kube().kubectl(['-n', 'api', 'create', 'deployment', 'pergola-engine', '--image=pergola']);
  });
  afterAll(async () => {
    await engine?.close();
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts an engine with the key that the Secret has. */
  const start = async () => {
    const names = ['-n', 'api', 'get', 'secret', 'pergola-values-key', '-o', 'jsonpath={.data.values-key}'];
    const key = Buffer.from(await kube().kubectl(names), 'base64').toString();
    engine = await startTestEngine({ databaseUrl: postgres!.url, valuesKey: key });
    return engine;
  };

  /** Runs commands of the guide. */
  const follow = async (commands: string): Promise<string> => {
    const binaries = await kubeBinaries();
    if ('missing' in binaries) throw new Error(binaries.missing);
    const { stdout } = await promisify(execFile)(
      'bash',
      ['-euo', 'pipefail', '-c', `${PERGOLA} ${commands}`],
      {
        cwd: folder,
        env: {
          PATH: `${BINARIES}:${binaries.folder}:${process.env['PATH']}`,
          KUBECONFIG: kube().kubeconfig,
          METADATA_URL: postgres!.url,
          DATABASE_URL: postgres!.url,
          EMPTY_URL: postgres!.url.replace(/[^/]*$/, 'rehearsal'),
        },
      },
    );
    return stdout;
  };

  test.skipIf(REASON !== '')(`are restored by the commands of the guide${REASON}`, async () => {
    const { admin, graphql, must } = await start();
    await admin(
      'run_sql',
      { sql: 'create table note (id int primary key); insert into note values (7)' },
      { endpoint: '/v2/query' },
    );
    await must('set_values', { values: [{ name: 'archive', value: postgres!.url }] });
    const configuration = { connection_info: { database_url: { from_value: 'archive' } } };
    await must('pg_add_source', { name: 'archive', configuration });
    await must('pg_track_table', { source: 'archive', table: 'note' });
    const query = '{ note { id } }';
    expect(await graphql(query)).toEqual({ data: { note: [{ id: 7 }] } });
    const before = (await admin('export_metadata', {})).body;

    await follow(SAVE);
    await follow('psql "$METADATA_URL" -qc "create database rehearsal"');
    const rehearsed = JSON.parse(await follow(REHEARSAL));
    expect(rehearsed.inconsistent_objects).toEqual([]);
    expect(rehearsed.objects.map(({ key }: { key: string }) => key)).toContain('table/archive/public/note');
    await follow('psql "$METADATA_URL" -qc "drop database rehearsal" -qc "create database rehearsal"');
    expect(
      await follow(
        `cp values-key kept; echo ${'x'.repeat(40)} > values-key; ${REHEARSAL}; cp kept values-key`,
      ),
    ).toContain('archive');
    // The disaster: the metadata database without its schema, a cluster without the key.
    await engine!.close();
    await follow(
      'psql "$METADATA_URL" -qc "drop schema pergola cascade"; kubectl -n api delete secret pergola-values-key',
    );
    await follow(RESTORE);

    const restored = await start();
    expect((await restored.admin('export_metadata', {})).body).toEqual(before);
    expect(await restored.graphql(query)).toEqual({ data: { note: [{ id: 7 }] } });
    const template = [
      '-n',
      'api',
      'get',
      'deployment',
      'pergola-engine',
      '-o',
      'jsonpath={.spec.template.metadata.annotations}',
    ];
    expect(await kube().kubectl(template)).toContain('restartedAt');
  });
});
