/** A GraphQL schema in a form that goes from one thread to another at once: a short head for each type, and the fields, input fields or values of
 *  each as JSON in one array of bytes, which is parsed when the type is first used. A third of the characters of the introspection are left.
 *  Pure. In: the data of an introspection query. Out: `{head, starts, bytes}`. Not here: the schema (lazy-schema.js), the thread (pack-worker.js). */

/** Returns the packed schema. The members of type `i` are the bytes from `starts[i]` to `starts[i + 1]`. */
export function packedSchema({ __schema: { types, directives, ...schema } }) {
  const encoder = new TextEncoder();
  const members = types.map(({ fields, inputFields, enumValues }) =>
    encoder.encode(JSON.stringify((fields ?? inputFields ?? enumValues ?? []).map(memberOf))),
  );
  const starts = new Uint32Array(types.length + 1);
  for (const [i, { length }] of members.entries()) starts[i + 1] = starts[i] + length;
  const bytes = new Uint8Array(starts.at(-1));
  for (const [i, part] of members.entries()) bytes.set(part, starts[i]);
  const head = {
    ...schema,
    types: types.map(headOf),
    directives: directives.map((directive) => ({ ...directive, args: directive.args.map(memberOf) })),
  };
  return { head, starts, bytes };
}

/** Returns the members of type `i`: their names, types as text, arguments and whatever else introspection says of them. */
export function membersOf({ starts, bytes }, i) {
  return JSON.parse(new TextDecoder().decode(bytes.subarray(starts[i], starts[i + 1])));
}

function headOf({ kind, name, description, specifiedByURL, isOneOf, interfaces, possibleTypes }) {
  return given({
    kind,
    name,
    description,
    specifiedByURL,
    isOneOf,
    interfaces: interfaces?.length > 0 ? namesOf(interfaces) : null,
    possibleTypes: kind === 'UNION' ? namesOf(possibleTypes) : null,
  });
}

function namesOf(types) {
  return types.map(({ name }) => name);
}

function memberOf({ name, description, deprecationReason, type, args, defaultValue }) {
  return given({
    name,
    description,
    deprecationReason,
    type: type && typeText(type),
    args: args?.length > 0 ? args.map(memberOf) : null,
    defaultValue,
  });
}

/** Returns the object without its members that are null. */
function given(object) {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => (value ?? null) !== null));
}

function typeText({ kind, name, ofType }) {
  if (kind === 'NON_NULL') return `${typeText(ofType)}!`;
  return kind === 'LIST' ? `[${typeText(ofType)}]` : name;
}
