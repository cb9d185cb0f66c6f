/** A query that runs with the schema of a role, and a warning when the role reaches nothing.
 *  Pure. In: a GraphQL schema. Not here: the editor (page.jsx). */
import {
  getNamedType,
  getNullableType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';

/** The only field of the queries of a role without any. */
const PLACEHOLDER = 'no_queries_available';
const MOST_FIELDS = 4;

export function exampleFor(schema) {
  const fields = fieldsOf(schema.getQueryType());
  const lists = fields.filter(({ type }) => isListType(getNullableType(type)));
  // The fields of a type are built when they are first used: those of each table would take long.
  const hasLeaves = ({ type }) => leavesOf(type).length > 0;
  const root =
    lists.find((field) => field.args.some(({ name }) => name === 'limit') && hasLeaves(field)) ??
    lists.find(hasLeaves);
  if (!root) return 'query Example {\n  __typename\n}\n';
  const limit = root.args.some(({ name }) => name === 'limit') ? '(limit: 5)' : '';
  const leaves = leavesOf(root.type).map((name) => `    ${name}\n`);
  return `query Example {\n  ${root.name}${limit} {\n${leaves.join('')}  }\n}\n`;
}

/** Returns why the schema has nothing to query; empty when it has something. */
export function warningFor(schema, role) {
  const isEmpty = Object.keys(schema.getQueryType()?.getFields() ?? {}).every((name) => name === PLACEHOLDER);
  if (!isEmpty || schema.getMutationType() || schema.getSubscriptionType()) return '';
  return role && role !== 'admin'
    ? `No permission names the role ${role}.`
    : 'The API has no tables yet: track one, or apply a resource.';
}

/** Returns the fields that can be selected without arguments. */
function fieldsOf(type) {
  return Object.values(type?.getFields() ?? {}).filter(
    ({ name, args }) => name !== PLACEHOLDER && !args.some(isRequiredArgument),
  );
}

function leavesOf(type) {
  const named = getNamedType(type);
  if (!isObjectType(named)) return [];
  const leaves = fieldsOf(named).filter((field) => isLeafType(getNamedType(field.type)));
  return leaves.slice(0, MOST_FIELDS).map(({ name }) => name);
}
