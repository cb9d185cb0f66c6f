/** The resources of a folder as `pergola test` applies them, and its PermissionTests.
 *  Triggers are left out, so that no webhook is called for rows that a test writes. Every Source leads to the scratch database, so that a
 *  test never reaches the database that the resource names.
 *  Not here: reading the folder (operator/folder), running the tests (run-tests.ts). */
import type { FolderSource } from '../../operator/folder/folder-source.ts';
import { type PermissionTestSpec, queryProblem } from '../../operator/kinds/permission-test.ts';
import { problemsOf } from '../../operator/kinds/validate.ts';
import { type CustomResource, crName, kindOf, purposeOf } from '../../operator/kinds.ts';
import { isMigration, migrationFilesOf, sourceOf } from '../../operator/migrations/run-migrations.ts';
import type { CrSnapshot, CrSource } from '../../operator/ports/resources.ts';
import type { DeclaredMigrations } from '../prepare-database.ts';

export type PermissionTest = {
  /** The name of the resource; with its namespace when that is not `default`. */
  readonly name: string;
  /** The file and line of the resource. */
  readonly position: string;
  readonly spec: PermissionTestSpec;
};

export type TestProblem = { readonly position: string; readonly message: string };

/** The kinds of objects whose resources are not applied: those that call webhooks, and the allow list. */
const LEFT_OUT: readonly string[] = ['event_trigger', 'cron_trigger', 'scheduled_event', 'allowlist'];

/** True for resources that declare nothing else, and for the tests themselves. */
function isLeftOut({ kind }: CustomResource): boolean {
  const { purpose, objects = [] } = kindOf(kind) ?? {};
  return purpose === 'test' || (objects.length > 0 && objects.every((each) => LEFT_OUT.includes(each.kind)));
}

/** Returns the tests of a snapshot in the order of their files, and the problems of those that are invalid. */
export function testsIn(
  { resources }: CrSnapshot,
  source: FolderSource,
): { readonly tests: readonly PermissionTest[]; readonly problems: readonly TestProblem[] } {
  const all = resources
    .filter((cr) => purposeOf(cr) === 'test')
    .map((cr) => ({ cr, position: source.positions.get(crName(cr)) ?? '' }));
  const problems = all.flatMap(({ cr, position }) =>
    problemsIn(cr).map((message) => ({ position, message: `${crName(cr)}: ${message}` })),
  );
  const tests = all.map(({ cr, position }) => ({
    name: testName(cr),
    position,
    spec: cr.spec as unknown as PermissionTestSpec,
  }));
  return { tests, problems };
}

function problemsIn({ kind, spec }: CustomResource): readonly string[] {
  const problems = problemsOf(kindOf(kind)!, spec);
  const ofQuery = problems.length > 0 ? null : queryProblem(spec as unknown as PermissionTestSpec);
  return ofQuery === null ? problems : [ofQuery];
}

function testName({ metadata: { name, namespace } }: CustomResource): string {
  return namespace === 'default' ? name : `${namespace}/${name}`;
}

/** Returns the files of the Migrations. They run before the other *.sql files, so that those can use their tables; the operator then finds
 *  them applied. A Migration whose ConfigMap or artifact is missing has none, and is not Ready. */
export function migrationsDeclaredIn(snapshot: CrSnapshot): Promise<readonly DeclaredMigrations[]> {
  return Promise.all(
    snapshot.resources.filter(isMigration).map(async (cr) => {
      const found = await migrationFilesOf(snapshot, cr);
      const files = 'reason' in found ? [] : found.files;
      return { source: sourceOf(cr), files: files.map(({ name, sql }) => ({ name, text: sql })) };
    }),
  );
}

/** Returns the folder with the resources to apply. */
export function scratchSource(source: FolderSource, databaseUrl: string): CrSource {
  return {
    snapshot: async () => {
      const snapshot = await source.snapshot();
      const resources = snapshot.resources
        .filter((cr) => !isLeftOut(cr))
        .map((cr) => FORMS[cr.kind]?.(cr, databaseUrl) ?? cr);
      return { ...snapshot, resources };
    },
  };
}

/** The kinds that tests apply in another form. */
const FORMS: Readonly<Record<string, (cr: CustomResource, databaseUrl: string) => CustomResource>> = {
  Source: onScratch,
  ApiLimits: withoutRate,
  QueryCollection: withoutAllowList,
};

/** Returns limits that do not depend on how many tests run: a request that a rate refuses tests nothing. */
function withoutRate(cr: CustomResource): CustomResource {
  const { rate: _, ...spec } = cr.spec;
  return { ...cr, spec };
}

/** Returns a collection that is not on the allow list, which is off: the texts of tests are not on it, and a request that it refuses tests nothing. */
function withoutAllowList(cr: CustomResource): CustomResource {
  const { allowlist: _, ...spec } = cr.spec;
  return { ...cr, spec };
}

/** Returns a Source of the scratch database. It adopts the source `default`, which the engine has from its start. */
function onScratch(cr: CustomResource, databaseUrl: string): CustomResource {
  const { readReplicas, connectionTemplate, connectionSet, health, ...rest } = cr.spec;
  return {
    ...cr,
    spec: { ...rest, connection: { url: { value: databaseUrl } }, adoptionPolicy: 'Always' },
  };
}
