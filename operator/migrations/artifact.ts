/** Decides what the OCI artifact of a Migration means for a pass. A registry that does not answer does not stop the resources of a source
 *  whose migrations have been applied: the status of the Migration says from which digest.
 *  Not here: the download (artifacts/), running the files (run-migrations.ts). */
import type { MigrationSpec } from '../kinds/migration.ts';
import type { AppliedMigration, CustomResource } from '../kinds.ts';
import type { ArtifactAnswer } from '../ports/migrations.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import { appliedBefore } from './applied.ts';

/** Returns the artifact of a Migration, or why there is none. */
export async function artifactOf(
  { artifact }: Pick<CrSnapshot, 'artifact'>,
  cr: CustomResource,
): Promise<ArtifactAnswer> {
  return artifact
    ? artifact(cr)
    : { reason: 'DependencyNotReady', message: 'artifacts of registries are not downloaded here' };
}

/** Returns the state of a Migration whose artifact needs no request to the engine; undefined when it needs one. `before` is the state after
 *  the previous pass, if that found the Migration applied. */
export function appliedFromArtifact(
  cr: CustomResource,
  artifact: ArtifactAnswer,
  before: AppliedMigration | undefined,
): AppliedMigration | undefined {
  const stored = appliedBefore(cr);
  const observed = cr.status?.observedArtifact;
  if (
    stored === undefined ||
    observed === undefined ||
    observed.repository !== (cr.spec as MigrationSpec).ociArtifact?.repository
  )
    return undefined;
  if (!('reason' in artifact)) {
    const isSame = artifact.digest === observed.digest;
    return isSame && before ? withProblem(before, artifact.staleBecause) : undefined;
  }
  // The operator has started again, and has no content yet.
  return artifact.isPending ? stored : withProblem(stored, artifact.message);
}

/** Returns the state with the problem of the registry, instead of an earlier one. */
function withProblem(applied: AppliedMigration, artifactProblem: string | undefined): AppliedMigration {
  const { artifactProblem: _, ...rest } = applied;
  return artifactProblem === undefined
    ? rest
    : { ...rest, artifactProblem: artifactProblem.slice(0, MOST_PROBLEM_CHARACTERS) };
}

/** The limit in the definitions: the API server refuses a status with a longer text. */
const MOST_PROBLEM_CHARACTERS = 1024;
