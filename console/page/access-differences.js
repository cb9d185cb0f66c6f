/** What differs between the rights of two roles, in a word for each part. In: two cells of `get_role_access`, null where a role has none. Pure. */

/** The parts of a right, in the order in which the page names them. Which role grants it is no difference. */
const PARTS = {
  columns: ({ columns }) => columns,
  rows: ({ grants }) => distinct(grants, 'filter'),
  checks: ({ grants }) => distinct(grants, 'check'),
  presets: ({ grants }) => distinct(grants, 'set'),
  'masked columns': ({ masked_columns, masked_fields }) => [masked_columns, masked_fields],
  'computed fields': ({ computed_fields }) => computed_fields,
  limits: ({ limit }) => limit,
  options: ({ allow_aggregations, query_root_fields, subscription_root_fields, backend_only }) => [
    ...[allow_aggregations, query_root_fields, subscription_root_fields, backend_only],
  ],
};

export function isGranted(cell) {
  return cell?.is_allowed === true;
}

/** Returns the names of the parts that differ; `right` when one of the two has none. */
export function accessDifferences(one, other) {
  if (!isGranted(one) || !isGranted(other)) return isGranted(one) === isGranted(other) ? [] : ['right'];
  return Object.keys(PARTS).filter((name) => textOf(PARTS[name](one)) !== textOf(PARTS[name](other)));
}

/** Returns the different values of a member of the permissions, as texts. */
function distinct(grants, member) {
  const values = grants.map(({ permission }) => permission[member]).filter((value) => value !== undefined);
  return [...new Set(values.map(textOf))];
}

function textOf(value) {
  return JSON.stringify(value ?? null);
}
