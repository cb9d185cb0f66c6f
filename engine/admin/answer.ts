/** What an operation answers with, and in whose words. Not here: HTTP (http/). */
import type { ErrorDialect } from '../errors/errors.ts';
import type { AdminEndpoint } from './request.ts';
import type { Snapshot } from './snapshot.ts';

/** The body of an answer, given what was published in the end: some answers tell its version. */
export type Answer = (published: Snapshot) => unknown;

export const SUCCESS: Answer = () => ({ message: 'success' });

/** /v1/query speaks as the specification, the others in the newer words. */
export function dialectOf(endpoint: AdminEndpoint | undefined): ErrorDialect {
  return endpoint === '/v1/query' ? 'specification' : 'newer';
}
