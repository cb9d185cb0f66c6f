/** The operation `get_field_usage`: which operations of which clients used which part of a role's schema in the last days, over all replicas.
 *  Other replicas may have counted up to half a minute more. Reference: docs/reference/behaviour/metadata-api.md.
 *  Not here: counting (usage/), the statements (store/usage.ts). */
import { printOperation } from '../change/effects.ts';
import { usageTotals, usedCoordinates, usedOperations } from '../store/usage.ts';
import type { FieldUsage } from '../usage/field-usage.ts';
import { storedName } from '../usage/usage-counts.ts';
import type { Performer } from './request.ts';

const DEFAULT_LISTED = 100;

export const getFieldUsage: Performer<'get_field_usage'> = async (work, args) => {
  const { fieldUsage } = work.gateway;
  const { limit = DEFAULT_LISTED, role, operation, client, coordinate } = args;
  await fieldUsage.flush();
  const filter = {
    days: daysOf(fieldUsage, args.days),
    role: role && storedName(role),
    operation: operation && storedName(operation),
    client: client && storedName(client),
    coordinate,
  };
  const { database } = fieldUsage;
  const [operations, coordinates, { since, uncounted }] = await Promise.all([
    usedOperations(database, filter, limit),
    usedCoordinates(database, filter, limit),
    usageTotals(database, filter.days),
  ]);
  const body = {
    is_counting: fieldUsage.keptDays > 0,
    days: filter.days,
    since,
    operations: operations.map(printOperation),
    coordinates: coordinates.map(({ role, coordinate, requests, lastDay }) => ({
      ...{ role, coordinate, requests, last_day: lastDay },
    })),
    uncounted: uncounted.map(({ role, requests, lastDay }) => ({ role, requests, last_day: lastDay })),
  };
  return () => body;
};

/** Days beyond those that are kept may be stored until they are deleted. */
function daysOf({ keptDays }: FieldUsage, wanted = keptDays): number {
  return Math.min(wanted, keptDays);
}
