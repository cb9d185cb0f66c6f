/** Operations that run SQL, and migrations. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { ObjectName } from '../schema/common.ts';
import { Seconds } from '../schema/number.ts';
import { Type } from '../schema/type.ts';
import { flag } from './arguments.ts';
import { type OperationDeclaration, row, SCHEMA, sourced } from './row.ts';

export const SQL_OPERATIONS = {
  run_sql: sourced(
    'sql',
    'Runs SQL statements in one transaction and answers with the result of the last.',
    {
      sql: Type.String(),
      cascade: flag,
      check_metadata_consistency: flag,
      read_only: flag,
      no_transaction: flag,
    },
    { endpoints: SCHEMA },
  ),

  apply_migrations: row(
    'migration',
    'Runs migrations that have not run on the database of a source. `put` and `remove` are changes of the metadata that follow. `dry_run` only lists them.',
    {
      source: ObjectName,
      migrations: Type.Array(Type.Object({ name: Type.String(), sql: Type.String() })),
      lock_timeout: Type.Optional(Seconds),
      allow_out_of_order: flag,
      allow_breaking: flag,
      dry_run: flag,
      put: Type.Optional(Type.Array(Type.Object({ key: Type.String(), definition: Type.Unknown() }))),
      remove: Type.Optional(Type.Array(Type.String())),
    },
    { takesSource: true },
  ),
} as const satisfies Record<string, OperationDeclaration>;
