/** Serves wider permissions, one at a time, and finds those that no test notices. In: the engine, the tests, which all pass, and the API. Out: a
 *  result for each mutant. The declared permissions are served again at the end.
 *  Only the tests of the role run, and of roles that inherit from it; those that exercise the permission run first, until one fails.
 *  Not here: the mutants (mutants.ts). */
import type { Api } from '../../engine/admin/test-coverage/coverage.ts';
import { actionId, exercisedBy } from '../../engine/admin/test-coverage/exercised.ts';
import { operation, perform } from '../../operator/engine/request.ts';
import { EngineProblem } from '../../operator/ports/engine-problem.ts';
import { printTable } from './api.ts';
import type { PermissionTest } from './folder-tests.ts';
import { type Mutant, mutantsOf } from './mutants.ts';
import { firstFailure, type TestBed } from './run-tests.ts';

export type MutationResult = {
  readonly mutant: Mutant;
  /** The first test that failed; undefined when none did. */
  readonly noticedBy: PermissionTest | undefined;
};

/** Returns the results in the order of the mutants. A mutant that the engine refuses has none. */
export async function mutate(
  bed: TestBed,
  tests: readonly PermissionTest[],
  api: Api,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<readonly MutationResult[]> {
  const concerned = testsFor(tests, api);
  const results: MutationResult[] = [];
  const mutants = mutantsOf(api);
  for (const [done, mutant] of mutants.entries()) {
    onProgress(done, mutants.length);
    const { object } = mutant.permission;
    if (await serve(bed, object.key, mutant.definition)) {
      const failure = await firstFailure(bed, concerned(mutant));
      results.push({ mutant, noticedBy: failure?.test });
    }
    await serve(bed, object.key, object.definition);
  }
  onProgress(mutants.length, mutants.length);
  return results;
}

/** Returns a function that finds the tests a mutant may change, those that exercise its permission first. */
function testsFor(tests: readonly PermissionTest[], api: Api): (mutant: Mutant) => readonly PermissionTest[] {
  const known = tests.map((test) => ({
    test,
    roles: api.rolesIn(test.spec.role),
    actions: exercisedBy(test.spec, api),
  }));
  return ({ permission }) => {
    const ofRole = known.filter(({ roles }) => roles.has(permission.role));
    const isClose = ({ actions }: (typeof known)[number]) => actions.has(actionId(permission));
    return [...ofRole.filter(isClose), ...ofRole.filter((each) => !isClose(each))].map(({ test }) => test);
  };
}

/** Puts the definition of a permission. Returns false when the engine refuses it, or does not serve it. */
async function serve({ engine }: TestBed, key: string, definition: unknown): Promise<boolean> {
  const args = { put: [{ key, definition }], allow_inconsistent_metadata: true, include_keys: true };
  try {
    return await perform(engine, operation('patch_metadata', args), (answer) => {
      const { inconsistent_objects: found = [] } = answer as {
        readonly inconsistent_objects?: readonly { readonly key?: string }[];
      };
      return !found.some((each) => each.key === key);
    });
  } catch (error) {
    if (error instanceof EngineProblem && error.kind === 'rejected') return false;
    throw error;
  }
}

export function survivorsIn(results: readonly MutationResult[]): readonly Mutant[] {
  return results.filter(({ noticedBy }) => noticedBy === undefined).map(({ mutant }) => mutant);
}

/** Prints the mutants that no test noticed, those of one permission together, and their number. */
export function printMutations(results: readonly MutationResult[]): string {
  const survivors = survivorsIn(results);
  const total =
    survivors.length === 0
      ? `The tests notice each of ${results.length} wider permissions.`
      : `No test notices ${survivors.length} of ${results.length} wider permissions.`;
  const all = Map.groupBy(results, ({ mutant }) => printPermission(mutant));
  const groups = [...Map.groupBy(survivors, printPermission)].flatMap(([permission, mutants]) => [
    `unnoticed  ${permission} (${mutants.length} of ${all.get(permission)!.length})`,
    ...mutants.map(({ change }) => `             ${change}`),
  ]);
  return [...groups, total, ''].join('\n');
}

function printPermission({ permission }: Mutant): string {
  return `${permission.role} on ${printTable(permission)}, ${permission.operation}`;
}

export function mutationsAsJson(results: readonly MutationResult[]): object {
  return {
    mutants: results.length,
    unnoticed: survivorsIn(results).length,
    items: results.map(({ mutant: { permission, change }, noticedBy }) => ({
      role: permission.role,
      source: permission.source,
      schema: permission.table.schema,
      table: permission.table.name,
      operation: permission.operation,
      change,
      noticedBy: noticedBy?.name ?? null,
    })),
  };
}
