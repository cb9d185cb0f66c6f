/** The types of resource.js for the tests. */
import type { KindRow } from '@pergola/operator/kinds';

type Edit = { readonly key: string; readonly kind: string; readonly definition: unknown };

export const FORMS: readonly KindRow[];
export function resourceText(given: {
  readonly kind: string;
  readonly name: string;
  readonly spec: object;
}): string;
export function editsOf(row: KindRow, spec: object): readonly Edit[];
export function keysNamed(row: KindRow, spec: object): readonly string[];
export function specOf(
  row: KindRow,
  objects: readonly { readonly key: string; readonly parent?: string; readonly definition: unknown }[],
): Readonly<Record<string, unknown>> | undefined;
export function fieldOf(
  row: KindRow,
  spec: object,
  edit: Edit,
  path: readonly (string | number)[],
): string | undefined;
export function editAt(
  path?: string,
): { readonly edit: number; readonly steps: readonly (string | number)[] } | undefined;
