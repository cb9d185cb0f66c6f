/** What the engine knows about the fields of a table that a role reads: the order of its columns, and those that the role sees in some rows only, because it
 *  inherits from several roles: they are null in the others. In: `get_role_access`, which administrators and the console secret may perform.
 *  Not here: which fields there are, which is the role's GraphQL schema (data-schema.js), what is masked (engine/resolve/inherited-roles.ts). */
import { useMemo } from 'react';
import { seesAllRoles } from './bar.jsx';
import { useAnswer } from './use-answer.js';

const NOTHING = { fields: [], masked: [], limit: undefined };

/** Returns `{fields, masked, limit}`, the names of columns of `table` in its order, those of masked fields, and the most rows of a request, null without
 *  a limit; nothing for sessions that may not know them, and
 *  undefined until they are known. */
export function useReadAccess(session, role, table) {
  const isKnowable = seesAllRoles(session) && table;
  const given = isKnowable ? { role: role || 'admin', type: table.rowType } : null;
  const { answer, problem } = useAnswer(session, 'get_role_access', given);
  return useMemo(() => {
    if (!isKnowable || problem) return NOTHING;
    if (!answer) return undefined;
    const { fields = [], masked_fields: masked = [], limit = null } = answer.tables?.[0]?.select ?? {};
    return { fields, masked, limit };
  }, [isKnowable, answer, problem]);
}
