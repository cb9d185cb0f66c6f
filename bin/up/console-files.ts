/** Writes the resources of the console's page Change into the folder of `pergola up`: the console stores each as text in the state of the engine, and `up`
 *  says there what became of it. A file that exists is never changed.
 *  In: the engine, the folder. Out: files; the member `pergola_up` of the state `console`.
 *  Not here: the page (console/page/folder-file.jsx), applying the files (operator/folder/follow.ts). */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRecord } from '../../engine/json/value.ts';
import type { EngineAddress } from '../../operator/engine/address.ts';
import { operation, perform } from '../../operator/engine/request.ts';
import { readFolder, readTexts } from '../../operator/folder/read-folder.ts';

const PAUSE_MS = 1000;
const MOST_STOPPING_MS = 1000;
const FILE_NAME = /^[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?\.yaml$/;

/** The file that was written and the resource in it, as `Kind namespace/name`; or why there is none. */
export type Written = { readonly file: string; readonly resource: string } | { readonly problem: string };

type Given = {
  readonly address: EngineAddress;
  readonly folder: string;
  readonly print: (text: string) => void;
  readonly signal: AbortSignal;
};

/** Writes files until the signal, and ends soon after it, also when the engine does not answer. `folder` is named to the user as it is given. */
export async function writeForConsole(given: Given): Promise<void> {
  const { signal } = given;
  const stopped = new Promise<void>((resolve) => {
    const wait = () => setTimeout(resolve, MOST_STOPPING_MS).unref();
    if (signal.aborted) wait();
    else signal.addEventListener('abort', wait, { once: true });
  });
  await Promise.race([writeUntil(given), stopped]);
}

async function writeUntil({ address, folder, print, signal }: Given): Promise<void> {
  const store = (state: object | null) =>
    perform(
      address,
      operation('patch_catalog_state', { type: 'console', patch: { pergola_up: state } }),
      () => undefined,
    );
  let isOffered = false;
  while (!signal.aborted) {
    try {
      if (!isOffered) await store({ folder, resources: null, written: null });
      isOffered = true;
      for (const [name, text] of Object.entries(await waiting(address))) {
        const written = await writeResource(folder, name, text);
        if ('file' in written) print(`Written by the console: ${written.file}\n`);
        await store({ resources: { [name]: null }, written: { [name]: written } });
      }
    } catch {
      // The engine does not answer, or has a newer state; the loop of the resources reports it.
    }
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
  await store(null).catch(() => {});
}

/** Returns the texts that wait, by the names of their files. */
function waiting(address: EngineAddress): Promise<Readonly<Record<string, unknown>>> {
  return perform(address, operation('get_catalog_state', { type: 'console' }), (answer) => {
    const { console_state: state } = answer as { readonly console_state?: { readonly pergola_up?: unknown } };
    const resources = isRecord(state?.pergola_up) ? state.pergola_up['resources'] : undefined;
    return isRecord(resources) ? resources : {};
  });
}

/** Writes a new file with one resource that the folder does not have. */
export async function writeResource(folder: string, name: string, text: unknown): Promise<Written> {
  if (!FILE_NAME.test(name) || typeof text !== 'string')
    return { problem: 'The name of the file is invalid.' };
  const { manifests, problems } = readTexts([{ name, text }]);
  const [resource] = manifests;
  if (problems.length > 0 || manifests.length !== 1 || !resource) {
    return { problem: problems[0]?.message ?? 'The file must contain one resource.' };
  }
  const existing = await readFolder(folder);
  const same = [...existing.manifests, ...existing.spoilt].find(
    (each) =>
      each.kind === resource.kind && each.name === resource.name && each.namespace === resource.namespace,
  );
  if (same)
    return { problem: `${resource.kind} ${resource.name} is at ${same.position} already: change it there.` };
  const file = join(folder, name);
  try {
    await writeFile(file, text, { flag: 'wx' });
    return { file, resource: `${resource.kind} ${resource.namespace}/${resource.name}` };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { problem: code === 'EEXIST' ? `${file} exists already.` : message };
  }
}
