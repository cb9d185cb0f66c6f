/** Decides what the OCI artifact of a Migration means for a pass. A registry that does not answer does not stop the resources of a source
 *  whose migrations have been applied: the status of the Migration says from which digest.
 *  Not here: the download (artifacts/), running the files (run-migrations.ts). */
import type { MigrationSpec } from '../kinds/migration.ts';
import type { CustomResource } from '../kinds.ts';
import type { ArtifactAnswer, CrSnapshot } from '../ports.ts';

const NOTE = '; the artifact was not read again: ';

/** Returns the artifact of a Migration, or why there is none. */
export async function artifactOf(
  { artifact }: Pick<CrSnapshot, 'artifact'>,
  cr: CustomResource,
): Promise<ArtifactAnswer> {
  return artifact
    ? artifact(cr)
    : { reason: 'DependencyNotReady', message: 'artifacts of registries are not downloaded here' };
}

/** Returns the message of a Migration whose artifact needs no request to the engine; undefined when it needs one. `before` is the message of
 *  the previous pass, if that found the Migration applied. */
export function appliedFromArtifact(
  cr: CustomResource,
  artifact: ArtifactAnswer,
  before: string | undefined,
): string | undefined {
  const ready = cr.status?.conditions.find(({ type }) => type === 'Ready');
  const observed = cr.status?.observedArtifact;
  const isApplied = ready?.status === 'True' && ready.observedGeneration === cr.metadata.generation;
  if (
    !isApplied ||
    observed === undefined ||
    observed.repository !== (cr.spec as MigrationSpec).ociArtifact?.repository
  )
    return undefined;
  if (!('reason' in artifact)) {
    const isSame = artifact.digest === observed.digest;
    return isSame && before !== undefined ? withNote(before, artifact.staleBecause) : undefined;
  }
  // The operator has started again, and has no content yet.
  return artifact.isPending ? ready.message : withNote(ready.message, artifact.message);
}

/** Returns the message of an applied Migration with the problem of its registry, instead of an earlier one. A message of a status is a
 *  sentence with a full stop. */
export function withNote(message: string, problem: string | undefined): string {
  const text = message.split(NOTE, 1)[0]!.replace(/\.$/, '');
  return problem === undefined ? text : `${text}${NOTE}${problem}`;
}
