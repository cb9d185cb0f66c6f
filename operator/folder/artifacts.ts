/** The artifacts of the Migrations of a folder. A command waits for them. Without a Secret in the folder, the credentials are those of the
 *  Docker client of the user (`docker login`), as far as its configuration contains them.
 *  Not here: downloads (artifacts/). */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { artifactRequestOf } from '../artifacts/artifact-request.ts';
import { ArtifactStore } from '../artifacts/artifact-store.ts';
import { download } from '../artifacts/download.ts';
import type { CustomResource } from '../kinds.ts';
import type { ArtifactAnswer } from '../ports/migrations.ts';
import type { ReferenceLookup } from '../ports/resources.ts';

/** The age at which a tag is compared again, by commands that continue. */
const MAX_AGE_MS = 540_000;
/** The user chose the folder, so its registries may be anywhere, also on this machine. */
const POLICY = { hosts: ['*'], allowsLoopback: true };

export class FolderArtifacts {
  readonly #store = new ArtifactStore({
    nowMs: () => performance.now(),
    download: (request, given) => download(request, { ...given, policy: POLICY }),
  });

  async artifactOf(cr: CustomResource, references: ReferenceLookup): Promise<ArtifactAnswer> {
    const request = artifactRequestOf(cr, references, await dockerConfig());
    if ('reason' in request) return request;
    return this.#store.settled({ group: '', uid: cr.metadata.uid, request, maxAgeMs: MAX_AGE_MS, nudge: '' });
  }
}

/** Returns the configuration of the Docker client; undefined when there is none. */
async function dockerConfig(): Promise<string | undefined> {
  const folder = process.env['DOCKER_CONFIG'] || join(homedir(), '.docker');
  try {
    return await readFile(join(folder, 'config.json'), 'utf8');
  } catch {
    return undefined;
  }
}
