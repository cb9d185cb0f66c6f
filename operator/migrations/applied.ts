/** The state of a Migration whose files are applied, as its status stores it, and the message for it.
 *  Pure. Not here: running the files (run-migrations.ts), artifacts (artifact.ts). */
import type { AppliedMigration, CustomResource } from '../kinds.ts';

/** Returns the message of an applied Migration. A status of an older operator does not say the version. */
export function appliedText({ version, artifactProblem, missingDigest }: AppliedMigration): string {
  const problem =
    artifactProblem === undefined ? '' : `; the artifact was not read again: ${artifactProblem}`;
  const digest =
    missingDigest === undefined
      ? ''
      : `; more files of a ConfigMap need spec.sha256 (now ${missingDigest}) or spec.allowConfigMapChanges`;
  return `${versionText(version)}${problem}${digest}`;
}

function versionText(version: string | undefined): string {
  if (version === undefined) return 'all migrations are applied';
  return version === '' ? 'there is no migration' : `the newest version is ${version}`;
}

/** Returns the state that the status stores, if it is about the current generation and the Migration is applied. */
export function appliedBefore({ metadata, status }: CustomResource): AppliedMigration | undefined {
  const ready = status?.conditions.find(({ type }) => type === 'Ready');
  const isApplied = ready?.status === 'True' && ready.observedGeneration === metadata.generation;
  return isApplied ? (status?.migration ?? {}) : undefined;
}
