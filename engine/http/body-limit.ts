/** The most bytes one request may have, by the role that sends it. */
import type { Options } from '../config/options.ts';
import { ADMIN_ROLE, type Session } from '../resolve/session.ts';

/** `session` null: nobody knows yet who sends it. */
export function bodyLimit(
  { maxRequestBodyLength, maxRoleBodyLength }: Pick<Options, 'maxRequestBodyLength' | 'maxRoleBodyLength'>,
  session: Session | null,
): number {
  return session?.role === ADMIN_ROLE
    ? maxRequestBodyLength
    : Math.min(maxRequestBodyLength, maxRoleBodyLength);
}
