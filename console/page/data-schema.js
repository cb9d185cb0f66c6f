/** The data that a role can read: the tables of its GraphQL schema, and the columns, relationships and filters of one of them. Two small introspections, because
 *  that of a whole schema with a thousand tables is large.
 *  Pure. In: answers of introspection. Not here: the query for rows (data-query.js). */

const TYPE = 'kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } }';

export const TABLES_QUERY = `query Tables {
  __schema {
    queryType {
      fields { name description type { ${TYPE} } args { name type { ${TYPE} } } }
    }
  }
}`;

export const COLUMNS_QUERY = `query Columns($row: String!, $where: String!) {
  row: __type(name: $row) {
    fields { name description type { ${TYPE} } args { name type { ${TYPE} } } }
  }
  where: __type(name: $where) {
    inputFields { name type { kind name inputFields { name type { ${TYPE} } } } }
  }
}`;

/** Returns the fields of the query root that list rows, by name: with the types of their arguments, and the field that returns one row by its key. */
export function tablesIn({ __schema: { queryType } }) {
  const keyFields = new Map(
    queryType.fields.filter(isByKey).map((field) => [namedType(field.type).name, withArguments(field)]),
  );
  return queryType.fields
    .filter(isList)
    .map((field) => ({ ...withArguments(field), byKey: keyFields.get(namedType(field.type).name) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
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

function withArguments({ name, description, type, args }) {
  const types = new Map(args.map((arg) => [arg.name, typeText(arg.type)]));
  const where = args.find((arg) => arg.name === 'where');
  const order = args.find((arg) => /^order_?by$/i.test(arg.name));
  return {
    name,
    description,
    rowType: namedType(type).name,
    isList: isListType(type),
    args: types,
    whereType: where && namedType(where.type).name,
    orderArgument: order?.name,
  };
}

/** Returns the columns of a table with the operators of filters on them, and its relationships. Without any field, the role reads nothing of it. */
export function columnsIn({ row, where }) {
  const fields = row?.fields ?? [];
  const filters = new Map((where?.inputFields ?? []).map(({ name, type }) => [name, type.inputFields ?? []]));
  const columns = fields
    .filter(({ type, args }) => isLeaf(type) && !args.some((arg) => arg.type.kind === 'NON_NULL'))
    .map(({ name, description, type }) => ({
      name,
      description,
      type: typeText(type),
      operators: (filters.get(name) ?? []).filter((operator) => isLeaf(operator.type)),
    }));
  const relationships = fields
    .filter((field) => namedType(field.type).kind === 'OBJECT' && (isList(field) || field.args.length === 0))
    .map(withArguments);
  return { columns, relationships };
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
