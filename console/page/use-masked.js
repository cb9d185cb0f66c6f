/** The columns of a table that a role sees in some rows only, because it inherits from several roles: they are null in the others. In: `get_role_access`,
 *  which administrators and the console secret may perform. Not here: what is masked (engine/resolve/inherited-roles.ts). */
import { useMemo } from 'react';
import { seesAllRoles } from './bar.jsx';
import { useAnswer } from './use-answer.js';

/** Returns the names of the fields of `table`; none while they are not known, and none for sessions that may not know them. */
export function useMasked(session, role, table) {
  const isKnowable = seesAllRoles(session) && role !== '' && table;
  const { answer } = useAnswer(session, 'get_role_access', isKnowable ? { role, type: table.rowType } : null);
  return useMemo(() => answer?.tables?.[0]?.select?.masked_fields ?? [], [answer]);
}
