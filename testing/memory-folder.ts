/** A folder for temporary files that is in memory. Tests create and drop hundreds of databases of 300 files each, and ext4 passes over every inode that was
 *  deleted within the last seconds when it creates a file: creating a database then takes 400 ms instead of 50, in the kernel.
 *  Not here: what is put there. Linux, fs/ext4/ialloc.c: recently_deleted. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

const SHARED_MEMORY = '/dev/shm';
/** The number is that of the process. */
const OWN_NAME = /^pergola-(\d+)-/;
/** The free memory that the temporary files and the processes of all tests need. */
const NEEDED_BYTES = 8 * 2 ** 30;

/** Creates the folder and makes it that of temporary files, for this process and those that it starts. Returns a function that removes it. Does
 *  nothing where memory is scarce, where programs in it cannot be run, and when TMPDIR names a folder. */
export function keepTemporaryFilesInMemory(): () => void {
  if (process.env['TMPDIR'] !== undefined || !isUsable()) return () => {};
  removeLeft();
  const folder = mkdtempSync(join(SHARED_MEMORY, `pergola-${process.pid}-`));
  // Under root, Postgres runs as another user.
  chmodSync(folder, 0o1777);
  process.env['TMPDIR'] = folder;
  return () => {
    delete process.env['TMPDIR'];
    rmSync(folder, { recursive: true, force: true });
  };
}

/** Removes the folders of processes that were killed. */
function removeLeft(): void {
  for (const name of readdirSync(SHARED_MEMORY)) {
    const pid = OWN_NAME.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) {
      rmSync(join(SHARED_MEMORY, name), { recursive: true, force: true });
    }
  }
}

function isUsable(): boolean {
  if (process.platform !== 'linux' || !existsSync(SHARED_MEMORY)) return false;
  const { bavail, bsize } = statfsSync(SHARED_MEMORY);
  const mounted = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === SHARED_MEMORY);
  const canRun = mounted !== undefined && !/\bnoexec\b/.test(mounted.split(' ')[3] ?? '');
  return canRun && Math.min(bavail * bsize, freemem()) > NEEDED_BYTES;
}
