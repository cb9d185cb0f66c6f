/** Operations that perform others. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { Type } from '../schema/type.ts';
import { EVERYWHERE, type OperationDeclaration, shaped } from './row.ts';

export const BATCH_OPERATIONS = {
  bulk: shaped('batch', 'Performs operations in order; all or none.', Type.Array(Type.Unknown()), {
    endpoints: EVERYWHERE,
    batch: 'atomic',
  }),
  bulk_keep_going: shaped(
    'batch',
    'Performs operations in order; those that fail answer with their error.',
    Type.Array(Type.Unknown()),
    { batch: 'each' },
  ),
  bulk_atomic: shaped(
    'batch',
    'Like `bulk`; the document is validated once, at the end.',
    Type.Array(Type.Unknown()),
    { batch: 'atomic' },
  ),
  concurrent_bulk: shaped('batch', 'Performs read-only `run_sql` operations.', Type.Array(Type.Unknown()), {
    endpoints: ['/v2/query'],
    batch: 'concurrent',
  }),
} as const satisfies Record<string, OperationDeclaration>;
