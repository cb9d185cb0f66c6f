/** The loop of `watch` and `up`: runs a pass now, and again when a file changes, when another client changed the engine, when a resource
 *  waits for a change of a database, and every ten minutes.
 *  Out: a report for each pass, until the signal. Not here: watching files (folder-watch.ts), a pass (pass/reconcile.ts), printing (print.ts). */
import { stateVersionOf } from '@pergola/engine/metadata';
import { reconcile } from '../pass/reconcile.ts';
import type { EnginePort } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { Ports } from '../ports/ports.ts';
import type { Report } from '../status/report.ts';
import { FolderWatch, LOOK_MS } from './folder-watch.ts';
import { isManifest } from './read-folder.ts';

export type FollowOptions = {
  /** The folders and files that are watched. */
  readonly inputs: readonly string[];
  readonly options: () => ReconcileOptions;
  readonly signal: AbortSignal;
  readonly onReport: (report: Report) => void;
  /** Called when an input itself cannot be read. */
  readonly onError: (error: Error) => void;
};

const VERSION_MS = 2000;
const WAITING_MS = 10_000;
const FULL_MS = 600_000;
const LEAST_BACKOFF_MS = 500;
const MOST_BACKOFF_MS = 30_000;

export async function follow(ports: Ports, given: FollowOptions): Promise<void> {
  const folder = new FolderWatch(given.inputs, isManifest);
  let failures = 0;
  let memory: Partial<Pick<Report, 'backoff' | 'heldBack'>> = {};
  try {
    while (!given.signal.aborted) {
      await folder.markSeen();
      const report = await reconcile(ports, given.options(), memory).catch((error: unknown) => {
        if (!(error instanceof Error)) throw error;
        given.onError(error);
        return undefined;
      });
      if (report) given.onReport(report);
      memory = report ?? memory;
      if (report?.isCut && !report.problem) continue;
      failures = report && !report.problem ? 0 : failures + 1;
      await untilDue(ports, folder, report, failures, given.signal);
    }
  } finally {
    folder.close();
  }
}

/** Resolves when the next pass is due. */
async function untilDue(
  ports: Ports,
  folder: FolderWatch,
  report: Report | undefined,
  failures: number,
  signal: AbortSignal,
): Promise<void> {
  const started = Date.now();
  const backoff =
    Math.min(MOST_BACKOFF_MS, LEAST_BACKOFF_MS * 2 ** failures) * (0.5 + ports.clock.random() / 2);
  let versionAt = started + VERSION_MS;
  while (!signal.aborted) {
    if (await folder.hasChanged()) return;
    const now = Date.now();
    if (failures > 0 && now - started > backoff) return;
    if (now - started > FULL_MS) return;
    if (report?.isWaiting && now - started > WAITING_MS) {
      await ports.engine.reload({ ifChanged: true }).catch(ignoreEngine);
      return;
    }
    if (failures === 0 && now > versionAt) {
      versionAt = now + VERSION_MS;
      if (await hasMoved(ports.engine, report)) return;
    }
    await folder.next(LOOK_MS, signal);
  }
}

async function hasMoved(engine: EnginePort, report: Report | undefined): Promise<boolean> {
  try {
    const { resourceVersion, stateVersion } = await engine.state();
    const known = report && stateVersionOf(report.inconsistent);
    return resourceVersion !== report?.resourceVersion || (stateVersion ?? known) !== known;
  } catch (error) {
    ignoreEngine(error);
    return true;
  }
}

/** Ignores a problem with the engine: the next pass has it too and reports it. */
function ignoreEngine(error: unknown): void {
  if (!(error instanceof EngineProblem)) throw error;
}
