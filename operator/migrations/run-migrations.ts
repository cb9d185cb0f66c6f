/** Runs the Migrations of an engine at the start of a pass, and holds the resources of a source until its Migration is applied: they keep
 *  the objects that they have. In: the snapshot, what the engine has. Out: the snapshot with the outcomes of resources that wait.
 *  The engine runs the SQL (`apply_migrations`). It is sent the changes of the same pass, so that a file may remove what they no longer use.
 *  Not here: the order of a pass (pass/reconcile.ts), the rules of migrations (engine/migrate). */

import { listText } from '@pergola/engine/list-text';
import { asJsonSchema, type Edit, parseKey } from '@pergola/engine/metadata';
import type { MigrationSpec } from '../kinds/migration.ts';
import {
  type AppliedMigration,
  type CustomResource,
  contentOf,
  crName,
  kindOf,
  purposeOf,
} from '../kinds.ts';
import type { EnginePort } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { ArtifactContent, MigrationFile, MigrationsResult } from '../ports/migrations.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';
import { appliedFromArtifact, artifactOf } from './artifact.ts';
import { consentToContent } from './content.ts';

/** The results of the Migrations of a pass. */
export type Migrated = {
  /** The snapshot; resources that wait have an outcome in `held`. */
  readonly snapshot: CrSnapshot;
  /** The state of each applied Migration, by uid. */
  readonly applied: ReadonlyMap<string, AppliedMigration>;
  /** True when the tables of a database changed. */
  readonly hasRun: boolean;
  /** The sources whose Migration waits until they are connected. */
  readonly missing: ReadonlySet<string>;
};

export type MigrationContext = {
  readonly engine: EnginePort;
  readonly snapshot: CrSnapshot;
  /** The names of the sources that the engine has. */
  readonly sources: ReadonlySet<string>;
  /** The outcomes of resources that have a problem of their own, by uid: their Migrations do not run. */
  readonly outcomes: ReadonlyMap<string, ResourceOutcome>;
  /** The changes that this pass would make. */
  readonly edits: readonly Edit[];
  /** The changes that are not among them, in words. A refusal says so. */
  readonly withheld?: string | undefined;
  /** The state of Migrations that are applied, by uid, as far as the operator knows without the engine. */
  readonly known: ReadonlyMap<string, AppliedMigration>;
};

export function isMigration(cr: CustomResource): boolean {
  return purposeOf(cr) === 'migration';
}

/** Runs every Migration that may run. Throws EngineProblem if the engine does not answer. */
export async function runMigrations(context: MigrationContext): Promise<Migrated> {
  const { snapshot } = context;
  const { winners, outcomes } = winnersIn(context);
  const own = new Map(outcomes);
  const blocked = new Map<string, string>();
  const applied = new Map<string, AppliedMigration>();
  const missing = new Set<string>();
  let hasRun = false;
  for (const [source, cr] of winners) {
    const known = context.known.get(cr.metadata.uid);
    if (known !== undefined) {
      applied.set(cr.metadata.uid, known);
      continue;
    }
    const answer = withWithheld(await answerOf(context, source, cr), context);
    const outcome = outcomeOf(answer);
    hasRun ||= answer.applied.length > 0;
    if (answer.state === 'missing') missing.add(source);
    if (outcome === undefined) applied.set(cr.metadata.uid, appliedIn(answer));
    else {
      own.set(cr.metadata.uid, outcome);
      blocked.set(source, `waits for ${crName(cr)}: ${outcome.message}`);
    }
  }
  const held = (cr: CustomResource): ResourceOutcome | undefined => {
    if (isMigration(cr)) return own.get(cr.metadata.uid);
    const message = blocked.get(dependsOn(cr) ?? '');
    return message === undefined ? undefined : { reason: 'DependencyNotReady', message };
  };
  return { snapshot: { ...snapshot, held }, applied, hasRun, missing };
}

function withWithheld(answer: Answer, { withheld }: MigrationContext): Answer {
  if (answer.state !== 'refused' || withheld === undefined) return answer;
  return { ...answer, message: `${answer.message ?? 'refused'}; ${withheld}` };
}

/** Returns the state of Migrations that are applied, by uid, without a request to the engine. `appliedBefore` returns the state of a
 *  resource that the previous pass found applied and that has not changed since. */
export async function appliedWithoutRequest(
  context: Pick<MigrationContext, 'snapshot' | 'outcomes'>,
  appliedBefore: (cr: CustomResource) => AppliedMigration | undefined,
): Promise<ReadonlyMap<string, AppliedMigration>> {
  const known = new Map<string, AppliedMigration>();
  for (const cr of winnersIn(context).winners.values()) {
    const before = appliedBefore(cr);
    const applied =
      contentOf(cr) === 'artifact'
        ? appliedFromArtifact(cr, await artifactOf(context.snapshot, cr), before)
        : before;
    if (applied) known.set(cr.metadata.uid, applied);
  }
  return known;
}

/** Returns the Migration of each source, and the outcomes of others that have the same source. */
export function winnersIn({ snapshot, outcomes }: Pick<MigrationContext, 'snapshot' | 'outcomes'>): {
  readonly winners: ReadonlyMap<string, CustomResource>;
  readonly outcomes: ReadonlyMap<string, ResourceOutcome>;
} {
  const ready = snapshot.resources.filter((cr) => isMigration(cr) && !outcomes.has(cr.metadata.uid));
  const winners = new Map<string, CustomResource>();
  const refused = new Map<string, ResourceOutcome>();
  for (const [source, rivals] of Map.groupBy(ready, sourceOf)) {
    const [first, ...others] = rivals.toSorted(byAge);
    winners.set(source, first!);
    for (const cr of others) refused.set(cr.metadata.uid, conflict(source, first!));
  }
  return { winners, outcomes: refused };
}

function specOf(cr: CustomResource): MigrationSpec {
  return cr.spec as MigrationSpec;
}

/** Returns the source whose database a Migration is for. */
export function sourceOf(cr: CustomResource): string {
  return specOf(cr).source ?? 'default';
}

/** Returns the source whose tables a resource is about; undefined for kinds without one. */
export function dependsOn({ kind, spec }: CustomResource): string | undefined {
  const row = kindOf(kind);
  if (!row || asJsonSchema(row.spec).properties?.['source'] === undefined) return undefined;
  const source = spec['source'] ?? 'default';
  return typeof source === 'string' ? source : undefined;
}

/** Orders the oldest resource first, as for objects. */
function byAge(a: CustomResource, b: CustomResource): number {
  const [left, right] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ''} ${metadata.uid}`);
  return left! < right! ? -1 : 1;
}

function conflict(source: string, owner: CustomResource): ResourceOutcome {
  return {
    reason: 'Conflict',
    message: `${crName(owner)}, which comes first, has the migrations of source ${source}; move the files there and delete this resource`,
  };
}

type Answer = Omit<MigrationsResult, 'state'> & {
  readonly state: MigrationsResult['state'] | 'missing' | 'not ready';
  /** Why the files are not known. Absent when they are. */
  readonly problem?: ResourceOutcome;
  /** Why the tag of the artifact was not compared again. Absent when it was. */
  readonly staleBecause?: string | undefined;
  /** The digest without which later files do not run. Absent when they need none. */
  readonly missingDigest?: string;
};

/** The most files that a message names. */
const MOST_NAMED = 5;

const MISSING: Answer = { state: 'missing', applied: [], version: null, message: null };

/** Sends the files of a Migration to the engine. */
export async function answerOf(
  context: Omit<MigrationContext, 'known'>,
  source: string,
  cr: CustomResource,
  isDryRun = false,
): Promise<Answer> {
  const { engine, sources, edits } = context;
  if (!sources.has(source)) {
    return {
      ...MISSING,
      message: `the engine has no source ${source} yet; apply a Source for it, or correct spec.source`,
    };
  }
  const { lockTimeoutSeconds, allowOutOfOrder = false, allowBreaking = false } = specOf(cr);
  const found = await migrationFilesOf(context.snapshot, cr);
  if ('reason' in found) return { ...MISSING, state: 'not ready', problem: found };
  const consent = consentToContent(context.snapshot, cr, found.files);
  if (consent !== 'given' && 'problem' in consent) return { ...MISSING, state: 'not ready', ...consent };
  const request = {
    source,
    migrations: found.files,
    lockTimeoutSeconds,
    allowOutOfOrder,
    allowBreaking,
    isDryRun: isDryRun || consent !== 'given',
  };
  const own = edits.filter(({ key }) => parseKey(key)?.segments[0] === source);
  const send = async (edits: readonly Edit[]): Promise<Answer> => {
    const answer = { ...(await engine.migrate({ ...request, edits })), staleBecause: found.staleBecause };
    return consent === 'given' ? answer : withoutConsent(answer, consent.digest);
  };
  try {
    return await send(own);
  } catch (error) {
    if (!(error instanceof EngineProblem) || error.kind !== 'rejected') throw error;
    // One of the changes is wrong, which its own resource reports. Without them the check is stricter.
    return send([]);
  }
}

/** Returns the answer to a dry run of files that may not run: pending ones are a problem. */
function withoutConsent(answer: Answer, digest: string): Answer {
  if (answer.state !== 'pending') return { ...answer, missingDigest: digest };
  const files = listText(answer.pending ?? [], { most: MOST_NAMED });
  const message =
    `${files} would run from a ConfigMap, which editors of the namespace may change; review the SQL and add spec.sha256: ${digest}, or ` +
    'allow every change with spec.allowConfigMapChanges: true';
  return { ...answer, problem: { reason: 'NotPermitted', message } };
}

/** The files of a Migration. `staleBecause` says why the tag of its artifact was not compared again. */
export type MigrationFiles = Pick<ArtifactContent, 'files' | 'staleBecause'>;

/** Returns the files of a Migration, or why they are not known. */
export async function migrationFilesOf(
  snapshot: Pick<CrSnapshot, 'references' | 'artifact'>,
  cr: CustomResource,
): Promise<MigrationFiles | ResourceOutcome> {
  if (contentOf(cr) === 'artifact') return artifactOf(snapshot, cr);
  const files = declaredFilesOf(snapshot, cr);
  const name = `${cr.metadata.namespace}/${specOf(cr).configMapRef?.name}`;
  return files
    ? { files }
    : {
        reason: 'DependencyNotReady',
        message: `there is no ConfigMap ${name}; create it, or correct spec.configMapRef`,
      };
}

/** Returns the files that a Migration or its ConfigMap contains; undefined when the ConfigMap does not exist, or for an artifact. */
export function declaredFilesOf(
  { references }: Pick<CrSnapshot, 'references'>,
  cr: CustomResource,
): readonly MigrationFile[] | undefined {
  const { namespace } = cr.metadata;
  const { files, configMapRef } = specOf(cr);
  if (contentOf(cr) === 'artifact') return undefined;
  const keyOf = (name: string, key: string) => references.configMap(namespace, name, key) ?? '';
  if (configMapRef) {
    const keys = references.configMapKeys?.(namespace, configMapRef.name);
    return keys
      ?.filter((key) => key.endsWith('.sql'))
      .map((key) => ({ name: key, sql: keyOf(configMapRef.name, key) }));
  }
  return (files ?? []).map(({ name, sql, configMapKeyRef: ref }) => ({
    name,
    sql: sql ?? (ref ? keyOf(ref.name, ref.key) : ''),
  }));
}

/** Returns why a Migration is not applied; undefined when it is. */
export function outcomeOf({ state, message, problem }: Answer): ResourceOutcome | undefined {
  const text = message ?? 'without a message';
  if (problem) return problem;
  switch (state) {
    case 'applied':
      return undefined;
    case 'missing':
    case 'not ready':
      return { reason: 'DependencyNotReady', message: text };
    case 'pending':
    case 'running':
      return { reason: 'MigrationRunning', message: text };
    case 'refused':
    case 'failed':
      return { reason: 'MigrationFailed', message: text };
  }
}

function appliedIn({ version, staleBecause, missingDigest }: Answer): AppliedMigration {
  return {
    version: version ?? '',
    ...(staleBecause === undefined ? {} : { artifactProblem: staleBecause }),
    ...(missingDigest === undefined ? {} : { missingDigest }),
  };
}
