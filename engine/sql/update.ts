/** One step of a nested update → a statement that writes any number of rows and tells how many, the rows themselves where
 *  later steps or the answer take them. Not here: the order of steps (plan/update.ts),
 *  running them (execute/run-plan.ts). Why: ADR 8. */
import type { UpdateStep } from '../plan/mutation-types.ts';
import { checkOf } from './check.ts';
import { manyRows, type StepQuery } from './insert.ts';
import { Aliases } from './scope.ts';
import { deleteStatement, updateStatement } from './write.ts';

export function updateStepQuery({ write, keepsRows, isAnswered, path }: UpdateStep): StepQuery {
  const aliases = new Aliases();
  const row = aliases.next();
  const isUpdate = write.kind === 'update';
  const statement = isUpdate ? updateStatement(write, row, aliases) : deleteStatement(write, row, aliases);
  const passes = isUpdate ? checkOf(write, row, aliases) : null;
  const tellsRows = keepsRows || isAnswered;
  return {
    write: manyRows(statement, { row, table: write.table, passes, tellsRows }),
    answered: isAnswered ? 1 : null,
    unlessInserted: null,
    path,
  };
}
