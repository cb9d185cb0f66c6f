/** Tells by an answer, which has only code and message, that a request was refused before its permissions were looked at.
 *  Pure. Not here: the errors themselves (errors.ts), the allow list (plan/request-policy.ts). */
import { ERRORS } from './errors.ts';

/** True for the error of a request that is not on the allow list. */
export function isOfAllowList({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): boolean {
  const { queryNotAllowed: row } = ERRORS;
  return code === row.code && message === row.message({});
}
