/** Decides whether the files of a Migration may run. Only administrators may write a Migration, but editors of the namespace may change its
 *  ConfigMaps, and the SQL in them runs as the database user of the source. So new files from a ConfigMap run if the Migration has their
 *  digest (`spec.sha256`), or says that it follows every change (`spec.allowConfigMapChanges`). What has run needs neither.
 *  In folder mode the same person chooses both: there a digest is compared, and not required.
 *  In: a resource and its files. Out: consent, what is missing for it, or the problem. Not here: running the files (run-migrations.ts). */
import { createHash } from 'node:crypto';
import type { MigrationSpec } from '../kinds/migration.ts';
import type { CustomResource } from '../kinds.ts';
import type { MigrationFile } from '../ports/migrations.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';

/** `digest` is the one that the Migration lacks. */
export type ContentConsent = 'given' | { readonly digest: string } | { readonly problem: ResourceOutcome };

export function consentToContent(
  { references }: Pick<CrSnapshot, 'references'>,
  cr: CustomResource,
  files: readonly MigrationFile[],
): ContentConsent {
  const spec = cr.spec as MigrationSpec;
  if (spec.sha256 === undefined) {
    const needsNone = references.isFiles || spec.allowConfigMapChanges || !hasConfigMap(spec);
    return needsNone ? 'given' : { digest: digestOf(files) };
  }
  const digest = digestOf(files);
  if (digest === spec.sha256) return 'given';
  const message =
    `the files are not those of spec.sha256: their digest is ${digest}; apply the files that belong to the Migration, or review them and ` +
    'correct spec.sha256';
  return { problem: { reason: 'DependencyNotReady', message } };
}

function hasConfigMap({ files = [], configMapRef }: MigrationSpec): boolean {
  return configMapRef !== undefined || files.some(({ configMapKeyRef }) => configMapKeyRef !== undefined);
}

/** Returns the digest of files as `sha256sum *.sql | sha256sum` prints it in their folder, in the C locale. */
export function digestOf(files: readonly MigrationFile[]): string {
  const lines = files.map(({ name, sql }) => ({
    name: Buffer.from(name),
    line: `${sha256(sql)}  ${name}\n`,
  }));
  return sha256(
    lines
      .toSorted((a, b) => Buffer.compare(a.name, b.name))
      .map(({ line }) => line)
      .join(''),
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
