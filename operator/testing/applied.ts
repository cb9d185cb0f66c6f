/** Applies a folder of resources to an engine of a test once, as `pergola apply` does. In: the folder, the engine. Out: what is not Ready, as lines. */
import type { TestEngine } from '../../testing/engine.ts';
import { engineClient } from '../engine/client.ts';
import { folderOptions } from '../folder/flags.ts';
import { FolderSource } from '../folder/folder-source.ts';
import { systemClock } from '../pass/clock.ts';
import { reconcile } from '../pass/reconcile.ts';

/** Applies the folder and returns what is not Ready. */
export async function applied(folder: string, { url, adminSecret }: TestEngine): Promise<readonly string[]> {
  const source = new FolderSource(folder);
  await source.snapshot();
  const ports = { engine: engineClient({ url, adminSecret }), source, sink: source, clock: systemClock };
  const { resources, verdicts } = await reconcile(ports, folderOptions(source));
  const notReady = resources.flatMap(({ kind, metadata }) => {
    const { reason, message } = verdicts.get(metadata.uid)!.outcome;
    return reason === 'Applied' ? [] : [`${kind} ${metadata.name}: ${reason} ${message}`];
  });
  return [...source.problems.map(({ position, message }) => `${position}: ${message}`), ...notReady];
}
