/** The Migrations of a pass: they run before the resources of their source change.
 *  In: the engine, the resources. Out: a reading of the engine after them; their outcomes in verdicts; in a plan, the files that would run.
 *  Not here: running one (migrations/run-migrations.ts), the changes sent along (hold-back.ts). */
import { parseKey } from '@pergola/engine/metadata';
import { fullScope, isStillApplied, type PassState } from '../decide/incremental-scope.ts';
import { appliedText } from '../migrations/applied.ts';
import { type PlannedMigrations, planMigrations } from '../migrations/plan-migrations.ts';
import {
  appliedWithoutRequest,
  isMigration,
  type Migrated,
  runMigrations,
  sourceOf,
} from '../migrations/run-migrations.ts';
import type { EnginePort, EngineReading } from '../ports/engine.ts';
import { inconsistentIn } from '../ports/inconsistent-object.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import type { PassPlan, Report } from '../status/report.ts';
import { type DecidedIn, decisionsIn } from './decisions.ts';
import { editsForMigrations } from './hold-back.ts';

/** Returns which files of Migrations would run; undefined when there is no Migration. */
export async function plannedMigrations(
  engine: EnginePort,
  snapshot: CrSnapshot,
  reading: EngineReading,
  { decided }: DecidedIn,
): Promise<PlannedMigrations | undefined> {
  if (!snapshot.resources.some(isMigration)) return undefined;
  const sources = new Set(reading.metadata.sources.map(({ name }) => name));
  return planMigrations({ engine, snapshot, sources, outcomes: decided.desired.outcomes, edits: [] });
}

/** Runs the Migrations among the resources, and reads the engine. The changes that the pass would make without them are sent along. */
export async function afterMigrations(
  engine: EnginePort,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
  passState: PassState | undefined,
): Promise<{ readonly reading: EngineReading; readonly migrated: Migrated }> {
  const reading = await engine.read();
  if (!snapshot.resources.some(isMigration)) return { reading, migrated: { ...NOT_MIGRATED, snapshot } };
  const scope = fullScope(snapshot, reading, options.manager);
  const { desired, decisions } = decisionsIn(scope, reading, options);
  const { outcomes } = desired;
  const broken = new Set(inconsistentIn(reading.inconsistent).map(({ key }) => parseKey(key)?.segments[0]));
  const known = await appliedWithoutRequest({ snapshot, outcomes }, (cr) => {
    // A table that is gone may be one of a Migration: the database may have been restored or created anew.
    const isKnown = passState && isStillApplied(cr, passState) && !broken.has(sourceOf(cr));
    return isKnown ? passState.resources.get(cr.metadata.uid)?.verdict.migration : undefined;
  });
  const { resources } = snapshot;
  const isOpen = resources.some((cr) => isMigration(cr) && !known.has(cr.metadata.uid));
  const migrated = await runMigrations({
    engine,
    snapshot,
    sources: new Set(reading.metadata.sources.map(({ name }) => name)),
    outcomes,
    known,
    ...(isOpen
      ? await editsForMigrations(engine, reading, decisions, { resources, options })
      : { edits: [] }),
  });
  if (!migrated.hasRun) return { reading, migrated };
  // What waited for a table may fit now.
  await engine.reload();
  return { reading: await engine.read(), migrated };
}

const NOT_MIGRATED = { applied: new Map<never, never>(), hasRun: false, missing: new Set<never>() };

/** True when the pass has written a source that a Migration waits for. */
export function isConnected({ missing }: Migrated, { settled }: PassPlan): boolean {
  return settled.document.sources.some(({ name }) => missing.has(name));
}

/** Returns the verdicts, in which an applied Migration names its version. */
export function withMigrations(verdicts: Report['verdicts'], { applied }: Migrated): Report['verdicts'] {
  if (applied.size === 0) return verdicts;
  return new Map(
    [...verdicts].map(([uid, verdict]) => {
      const migration = applied.get(uid);
      if (!migration || verdict.outcome.reason !== 'Applied') return [uid, verdict];
      const outcome = { reason: 'Applied', message: appliedText(migration) } as const;
      return [uid, { ...verdict, outcome, migration }];
    }),
  );
}
