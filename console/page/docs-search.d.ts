/** The types of docs-search.js for the tests. */
import type { LazySchema } from './lazy-schema.js';

type FoundCoordinate = { readonly type: string; readonly field?: string; readonly argument?: string };
export function searchedIn(
  schema: LazySchema,
  text: string,
  most: number,
  signal: AbortSignal,
): Promise<readonly FoundCoordinate[] | null>;
