/** The data that a role can read: the tables of its GraphQL schema, and the columns, relationships and filters of one of them. Small introspections, because
 *  that of a whole schema with a thousand tables is large.
 *  Pure. In: answers of introspection. Not here: the query for rows (data-query.js). */

const TYPE = 'kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }';

/** The type of an operand, with the values of an enum. */
const OPERAND = TYPE.replaceAll('kind name', 'kind name enumValues { name }');

const FIELDS = `fields { name description type { ${TYPE} } args { name type { ${TYPE} } } }`;

export const TABLES_QUERY = `query Tables { __schema { queryType { ${FIELDS} } } }`;

export const COLUMNS_QUERY = `query Columns($row: String!, $where: String!, $order: String!) {
  row: __type(name: $row) { ${FIELDS} }
  where: __type(name: $where) {
    inputFields { name type { kind name inputFields { name type { ${OPERAND} } } } }
  }
  order: __type(name: $order) { inputFields { name type { enumValues { name } } } }
}`;

/** Returns the fields of the query root that may be a namespace with the root fields of a source: the objects that take no argument. */
function namespacesIn({ __schema: { queryType } }) {
  return queryType.fields.filter(({ type, args }) => type.kind === 'OBJECT' && args.length === 0);
}

/** Returns the introspection of the namespaces, `{query, variables}`; null when there are none. */
export function namespacesQuery(root) {
  const names = namespacesIn(root).map(({ type }, i) => [`type${i}`, type.name]);
  if (names.length === 0) return null;
  const declared = names.map(([name]) => `$${name}: String!`).join(', ');
  const types = names.map(([name]) => `${name}: __type(name: $${name}) { ${FIELDS} }`).join(' ');
  return { query: `query Namespaces(${declared}) { ${types} }`, variables: Object.fromEntries(names) };
}

/** Returns the fields that list rows, of the query root and of namespaces (the answer to their query, if it is known): with the types of their arguments, and
 *  the field that returns one row by its key. `title` is unique: `author`, or `shop.author` in a namespace. */
export function tablesIn(root, namespaces) {
  const fields = [
    ...root.__schema.queryType.fields,
    ...namespacesIn(root).flatMap(({ name: namespace }, i) =>
      (namespaces?.[`type${i}`]?.fields ?? []).map((field) => ({ ...field, namespace })),
    ),
  ];
  const keyFields = new Map(
    fields.filter(isByKey).map((field) => [namedType(field.type).name, withArguments(field)]),
  );
  return fields
    .filter(isList)
    .map((field) => ({ ...withArguments(field), byKey: keyFields.get(namedType(field.type).name) }))
    .sort((a, b) => (a.title < b.title ? -1 : 1));
}

/** Returns true for a field with rows that can be limited. */
function isList({ type, args }) {
  return isListType(type) && namedType(type).kind === 'OBJECT' && args.some(({ name }) => name === 'limit');
}

/** Returns true for a field with one row, all of whose arguments are columns of a key. */
function isByKey({ type, args }) {
  return (
    !isListType(type) &&
    namedType(type).kind === 'OBJECT' &&
    args.length > 0 &&
    args.every((arg) => arg.type.kind === 'NON_NULL' && isLeaf(arg.type))
  );
}

function withArguments({ name, namespace, description, type, args }) {
  const types = new Map(args.map((arg) => [arg.name, typeText(arg.type)]));
  const where = args.find((arg) => arg.name === 'where');
  const order = args.find((arg) => /^order_?by$/i.test(arg.name));
  return {
    name,
    namespace,
    title: namespace === undefined ? name : `${namespace}.${name}`,
    description,
    rowType: namedType(type).name,
    isList: isListType(type),
    args: types,
    whereType: where && namedType(where.type).name,
    orderArgument: order?.name,
    orderType: order && namedType(order.type).name,
  };
}

/** Returns the columns of a table with the operators of filters on them and the directions of their order, and its relationships. Without any field, the role
 *  reads nothing of it. */
export function columnsIn({ row, where, order }) {
  const fields = row?.fields ?? [];
  const filters = new Map((where?.inputFields ?? []).map(({ name, type }) => [name, type.inputFields ?? []]));
  const orders = new Map((order?.inputFields ?? []).map(({ name, type }) => [name, type.enumValues ?? []]));
  const columns = fields
    .filter(({ type, args }) => isLeaf(type) && !args.some((arg) => arg.type.kind === 'NON_NULL'))
    .map(({ name, description, type }) => ({
      name,
      description,
      type: typeText(type),
      operators: (filters.get(name) ?? []).filter((operator) => isLeaf(operator.type)),
      directions: directionsIn(orders.get(name) ?? []),
    }));
  const relationships = fields
    .filter((field) => namedType(field.type).kind === 'OBJECT' && (isList(field) || field.args.length === 0))
    .map(withArguments);
  return { columns, relationships };
}

/** Returns the columns, which a schema sorts by their names, with those of `names` first, in this order: the columns of the table, or those of its key where
 *  the session may not know more. */
export function inOrder(columns, names) {
  const at = new Map(names.map((name, i) => [name, i]));
  const rank = ({ name }) => at.get(name) ?? names.length;
  return columns.toSorted((a, b) => rank(a) - rank(b));
}

/** Returns the values for ascending and descending order, whose names are in capital letters in some naming conventions; undefined without them. */
function directionsIn(values) {
  const [asc, desc] = ['asc', 'desc'].map(
    (wanted) => values.find(({ name }) => name.toLowerCase() === wanted)?.name,
  );
  return asc && desc && { asc, desc };
}

export function namedType(type) {
  return type.ofType ? namedType(type.ofType) : type;
}

export function isListType(type) {
  return type.kind === 'LIST' || (type.kind === 'NON_NULL' && isListType(type.ofType));
}

function isLeaf(type) {
  return ['SCALAR', 'ENUM'].includes(namedType(type).kind);
}

function typeText({ kind, name, ofType }) {
  if (kind === 'NON_NULL') return `${typeText(ofType)}!`;
  return kind === 'LIST' ? `[${typeText(ofType)}]` : name;
}
