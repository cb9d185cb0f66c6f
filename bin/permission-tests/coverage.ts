/** The coverage of permissions by the tests of a folder, as text and as JSON. Pure.
 *  Not here: which permissions a test exercises (engine/admin/test-coverage). */
import { type CoveredPermission, testedIn } from '../../engine/admin/test-coverage/coverage.ts';
import { tableId } from '../../engine/admin/test-coverage/exercised.ts';
import { OPERATIONS, type Operation } from '../../engine/resolve/grant.ts';
import { printTable } from './api.ts';
import type { PermissionTest } from './folder-tests.ts';

export type Coverage = readonly CoveredPermission<PermissionTest>[];

/** Returns the share of permissions that a test exercises, from 0 to 100, rounded down. An API without permissions is covered. */
export function percentOf(coverage: Coverage): number {
  return coverage.length === 0 ? 100 : Math.floor((testedIn(coverage) / coverage.length) * 100);
}

/** Prints a line for each role and table with the number of tests of each operation; `-` where the role has no permission. */
export function printCoverage(coverage: Coverage): string {
  const groups = Map.groupBy(coverage, ({ permission }) => `${permission.role} ${tableId(permission)}`);
  const rows = [...groups.values()].map((group) => [
    group[0]!.permission.role,
    printTable(group[0]!.permission),
    ...OPERATIONS.map((operation) => cellOf(group, operation)),
  ]);
  const table = aligned([['role', 'table', ...OPERATIONS], ...rows]);
  const total = `${testedIn(coverage)} of ${coverage.length} permissions are tested (${percentOf(coverage)} %).`;
  return [...table, total, ''].join('\n');
}

function cellOf(group: Coverage, operation: Operation): string {
  const found = group.find(({ permission }) => permission.operation === operation);
  return found === undefined ? '-' : String(found.tests.length);
}

/** Returns lines with the first two columns aligned on the left, the others on the right. */
function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  return rows.map((row) =>
    row.map((cell, i) => (i < 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '),
  );
}

export function coverageAsJson(coverage: Coverage): object {
  return {
    permissions: coverage.length,
    tested: testedIn(coverage),
    items: coverage.map(({ permission: { role, source, table, operation }, tests }) => ({
      role,
      source,
      schema: table.schema,
      table: table.name,
      operation,
      tests: tests.map(({ name }) => name),
    })),
  };
}
