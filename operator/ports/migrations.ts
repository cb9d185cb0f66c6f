/** Migrations: their files, the request to an engine to run them, and its answer.
 *  Not here: their order in a pass (migrations/), downloads of artifacts (artifacts/). */

import type { Edit } from '@pergola/engine/metadata';
import type { ResourceOutcome } from './verdict.ts';

/** A migration: `1_add_isbn.sql` and its statements. */
export type MigrationFile = { readonly name: string; readonly sql: string };

/** The content of the OCI artifact of a Migration. */
export type ArtifactContent = {
  /** The digest of its manifest, such as `sha256:…`. */
  readonly digest: string;
  readonly files: readonly MigrationFile[];
  /** Why the tag could not be compared again since. Absent when it could. */
  readonly staleBecause?: string;
};

/** The artifact of a Migration, or why there is none. `isPending`: it is being downloaded for the first time. */
export type ArtifactAnswer = ArtifactContent | (ResourceOutcome & { readonly isPending?: true });

/** Migrations for the database of a source. */
export type MigrationsRequest = {
  readonly source: string;
  readonly migrations: readonly MigrationFile[];
  readonly lockTimeoutSeconds?: number | undefined;
  readonly allowOutOfOrder: boolean;
  readonly allowBreaking: boolean;
  /** True to list the files that would run. */
  readonly isDryRun?: boolean;
  /** The changes of the document that follow. */
  readonly edits: readonly Edit[];
};

/** The state of the migrations of a source, as `apply_migrations` returns it. */
export type MigrationsResult = {
  readonly state: 'applied' | 'pending' | 'running' | 'refused' | 'failed';
  /** The names of files that would run. Absent if it was no dry run. */
  readonly pending?: readonly string[];
  /** The versions that this request applied. */
  readonly applied: readonly string[];
  readonly version: string | null;
  readonly message: string | null;
};
