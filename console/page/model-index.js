/** The objects of the metadata by their keys, in groups for the list, and what they are related to for the diagram.
 *  Pure. In: the answer of `list_objects`. Not here: the kinds of objects and their keys (engine/metadata/objects.ts). */

/** The groups of the list, in order. Objects that are nested in tables are shown with their table. */
const GROUPS = {
  source: 'Sources',
  table: 'Tables and views',
  enum: 'Enum tables',
  function: 'Functions',
  native_query: 'Native queries',
  logical_model: 'Logical models',
  remote_schema: 'Remote schemas',
  action: 'Actions',
  custom_type: 'Custom types',
  query_collection: 'Query collections',
  allowlist: 'Allow list',
  rest_endpoint: 'REST endpoints',
  cron_trigger: 'Cron triggers',
  scheduled_event: 'Scheduled events',
  inherited_role: 'Inherited roles',
};
const REST = 'Settings';

const RELATIONSHIPS = [
  'object_relationship',
  'array_relationship',
  'remote_relationship',
  'remote_schema_relationship',
];

export function indexOf({ objects, inconsistent_objects: inconsistent, not_enforced: notEnforced }) {
  const byKey = new Map(objects.map((object) => [object.key, { ...object, ...partsOf(object.key) }]));
  const edges = new Map();
  for (const object of byKey.values()) {
    if (!RELATIONSHIPS.includes(object.kind) || !byKey.has(object.to)) continue;
    const edge = {
      key: object.key,
      from: object.parent,
      to: object.to,
      name: object.name,
      type: object.type,
    };
    add(edges, edge.from, edge);
    if (edge.to !== edge.from) add(edges, edge.to, edge);
  }
  const ownerOf = (key) => byKey.get(key)?.parent ?? ownerOfPermission(key);
  const problems = new Map();
  const unequal = notEnforced.map((found) => ({ ...found, isConsistent: true }));
  for (const found of [...inconsistent, ...unequal]) {
    if (found.key === undefined) continue;
    add(problems, found.key, found);
    const owner = ownerOf(found.key);
    // What is wrong in a source is in the list of its tables.
    if (owner && !owner.startsWith('source/')) add(problems, owner, found);
  }
  return {
    byKey,
    inconsistent,
    /** Consistent objects that do not do what they declare. */
    unequal,
    /** Returns `inconsistent` or `not as declared`; undefined for an object that is neither, as those are that are nested in it. */
    stateOf: (key) => {
      const found = problems.get(key);
      return found && (found.every(({ isConsistent }) => isConsistent) ? 'not as declared' : 'inconsistent');
    },
    /** Returns what is wrong with an object, and with those that are nested in it. */
    problemsOf: (key) => problems.get(key) ?? [],
    /** Returns the key of the object that an object is nested in; undefined for none. */
    ownerOf,
    /** Returns the relationships that begin or end at an object. */
    edgesOf: (key) => edges.get(key) ?? [],
  };
}

function add(map, key, value) {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}

/** Returns the key of the object that a permission is nested in: permissions are not listed. */
function ownerOfPermission(key) {
  const [kind, ...segments] = key.split('/');
  if (/^(select|insert|update|delete)_permission$/.test(kind))
    return ['table', ...segments.slice(0, 3)].join('/');
  const owner = /^(function|logical_model|remote_schema|action)_permission$/.exec(kind)?.[1];
  return owner && [owner, ...segments.slice(0, -1)].join('/');
}

/** Returns the kind and the names in a key. The name of a table has its schema and source in front unless they are the usual ones. */
export function partsOf(key) {
  const [kind, ...encoded] = key.split('/');
  const segments = encoded.map(decoded);
  return { kind, segments, name: nameIn(kind, segments) };
}

function nameIn(kind, segments) {
  if (kind === 'table' || kind === 'function') {
    const [source, schema, name] = segments;
    return `${source === 'default' ? '' : `${source}: `}${schema === 'public' ? '' : `${schema}.`}${name}`;
  }
  if (kind === 'remote_schema_relationship') return segments.slice(-2).join('.');
  return segments.at(-1) ?? kindInWords(kind);
}

export function kindInWords(kind) {
  return kind.replaceAll('_', ' ');
}

function decoded(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** Returns the rows of the list: the title of each group, then its objects, those whose name contains the text. */
export function rowsOf(index, { text, isWithProblemOnly }) {
  const wanted = text.trim().toLowerCase();
  const groups = new Map([...Object.values(GROUPS), REST].map((title) => [title, []]));
  for (const object of index.byKey.values()) {
    if (object.parent && partsOf(object.parent).kind !== 'source') continue;
    if (isWithProblemOnly && !index.stateOf(object.key)) continue;
    if (wanted !== '' && !object.name.toLowerCase().includes(wanted)) continue;
    groups.get(GROUPS[object.is_enum ? 'enum' : object.kind] ?? REST).push(object);
  }
  return [...groups].flatMap(([title, objects]) =>
    objects.length === 0 ? [] : [{ title, count: objects.length }, ...objects],
  );
}
