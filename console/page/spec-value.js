/** A spec while it is written: the members of its schema that are shown, and what is still wrong with it.
 *  Pure. In: the schema of a spec, a value. Out: values, problems with their fields.
 *  Not here: the form (spec-form.jsx), what a spec means (operator/kinds). */
import { UNREADABLE } from './spec-entry.js';

/** Returns the shape by which a value is entered: `choice`, `text`, `number`, `flag`, `texts`, `list`, `object` or `json`. */
export function shapeOf(schema) {
  if (choicesOf(schema)) return 'choice';
  if (schema.type === 'object') return schema.properties ? 'object' : 'json';
  if (schema.type === 'array') return shapeOf(schema.items) === 'text' ? 'texts' : 'list';
  return { string: 'text', integer: 'number', number: 'number', boolean: 'flag' }[schema.type] ?? 'json';
}

/** Returns the values to choose from; undefined for other schemas. */
export function choicesOf({ enum: values, const: value, anyOf }) {
  if (values) return values;
  if (value !== undefined) return [value];
  return anyOf?.every(({ const: one }) => one !== undefined) ? anyOf.map(({ const: one }) => one) : undefined;
}

/** Returns the fields of an object that are shown: those that are required and those that the value has; and the others. */
export function fieldsIn({ properties, required = [] }, value = {}) {
  const names = Object.keys(properties);
  const shown = names.filter((name) => required.includes(name) || name in value);
  return { shown, others: names.filter((name) => !shown.includes(name)) };
}

/** Returns what a field begins with when it is added. */
export function emptyOf(schema) {
  const shape = shapeOf(schema);
  if (shape === 'choice') return choicesOf(schema)[0];
  return { flag: true, texts: [], list: [], object: {}, json: {} }[shape] ?? '';
}

/** Returns the object with another value of a member, and without it for undefined. */
export function withMember(object, name, value) {
  const { [name]: _, ...others } = object ?? {};
  return value === undefined ? others : { ...object, [name]: value };
}

/** Returns the value without texts, lists and objects in which nothing was entered; those that are required stay, if they may be empty. */
export function entered(schema, value) {
  if (shapeOf(schema) === 'list') return value.map((item) => entered(schema.items, item));
  if (shapeOf(schema) !== 'object') return value;
  const members = Object.entries(value ?? {}).filter(([, member]) => member !== '' && member !== UNREADABLE);
  return Object.fromEntries(
    members.map(([name, member]) => [name, entered(schema.properties[name], member)]),
  );
}

/** Returns sentences about the fields whose text cannot be read. */
export function unreadableIn(schema, value, path = 'spec') {
  if (value === UNREADABLE) return [`${path} cannot be read`];
  const shape = shapeOf(schema);
  if (shape === 'list')
    return (value ?? []).flatMap((item, i) => unreadableIn(schema.items, item, `${path}[${i}]`));
  if (shape !== 'object') return [];
  return Object.entries(value ?? {}).flatMap(([name, member]) =>
    unreadableIn(schema.properties[name], member, `${path}.${name}`),
  );
}

/** Returns sentences about what is missing, and the rules over several fields that do not hold. */
export function problemsIn(schema, value, path = 'spec') {
  const shape = shapeOf(schema);
  if (shape === 'list') return value.flatMap((item, i) => problemsIn(schema.items, item, `${path}[${i}]`));
  if (shape !== 'object') return [];
  const { properties, required = [], 'x-kubernetes-validations': rules = [] } = schema;
  const missing = required.filter(
    (name) => value[name] === undefined && shapeOf(properties[name]) !== 'object',
  );
  const inner = fieldsIn(schema, value).shown.filter((name) => !missing.includes(name));
  return [
    ...missing.map((name) => `${path}.${name} is required`),
    ...inner.flatMap((name) => problemsIn(properties[name], value[name] ?? {}, `${path}.${name}`)),
    ...(missing.length === 0
      ? rules.filter((rule) => !rule.holds(value)).map(({ message }) => messageAt(path, message))
      : []),
  ];
}

/** Returns the message of a rule, which may name its place itself. */
function messageAt(path, message) {
  return /^spec\b/.test(message) ? message : `${path}: ${message}`;
}
