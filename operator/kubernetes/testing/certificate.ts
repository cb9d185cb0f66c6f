/** Creates certificates for servers of tests. Not here: the servers. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a certificate for an alternative name, which is its own authority; in PEM. */
export function certificate(name = 'IP:127.0.0.1'): { readonly cert: string; readonly key: string } {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-transport-'));
  const files = ['-keyout', 'key', '-out', 'cert', '-subj', '/CN=fake', '-addext', `subjectAltName=${name}`];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '36500'];
  execFileSync('openssl', ['req', '-x509', ...key, ...files], { cwd: folder, stdio: 'pipe' });
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  const found = { cert: read('cert'), key: read('key') };
  rmSync(folder, { recursive: true });
  return found;
}
