/** Tests the Postgres of `pergola up` under root, whose home no other user can enter. Not here: the commands that start it (up.test.ts). */
import { chmodSync, cpSync, lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { expect, test } from 'vitest';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { isReachable, isRoot } from './unprivileged.ts';

test.skipIf(!isRoot())(
  'root starts it from a folder that no other user can enter, such as that of npx',
  async () => {
    const folder = mkdtempSync('/var/tmp/pergola-root-');
    chmodSync(folder, 0o755);
    const home = join(folder, 'home');
    mkdirSync(home, { mode: 0o700 });
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    const native = join(dirname(dirname(require.resolve(name))), 'native');
    cpSync(native, join(home, 'native'), { recursive: true, verbatimSymlinks: true });
    const binaries = join(home, 'native/bin');
    expect(isReachable(join(binaries, 'postgres'))).toBe(false);
    const postgres = await startEmbeddedPostgres({
      folder: join(folder, 'state'),
      binaries,
      isDurable: false,
    });
    try {
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
      await client.end();
      expect(lstatSync(join(folder, 'state/program')).isDirectory()).toBe(true);
    } finally {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
