/** Values that a resource may contain or refer to: text, an environment variable or a file of the engine, or a key of a Secret or ConfigMap
 *  in the namespace of the resource. URLs, headers, passwords and certificates have this form in every kind.
 *  In: a ValueSource. Out: the fields of the metadata (`url`, `url_from_env`, `url_from_value`, `url_from_file`), and back.
 *  Not here: what the metadata has in its place (decide/translation.ts). */
import { type Header, isRecord, secret, Type } from '@pergola/engine/metadata';
import { closed, exactlyOne, keyedList, Name, Variable, withDescription } from './annotate.ts';
import {
  type FieldContext,
  inForm,
  type MetadataForm,
  type MetadataValue,
  mappedTo,
  optional,
  required,
  type ValueSource,
} from './mapping.ts';

/** The schema of a reference to a key of a Secret or ConfigMap. */
export const KEY_REF = closed({
  name: required('The name of the object, in the namespace of this resource.', Name),
  key: required('The key in its data.', Name),
});
export const ConfigMapKeyRef = withDescription(
  'A key of a ConfigMap in the namespace of this resource.',
  KEY_REF,
);

const MOST_CHARACTERS = 65_536;

/** Returns the members of a value: exactly one of them is set. */
function members(value: string, minLength: number) {
  return {
    value: optional(value, secret(Type.String({ minLength, maxLength: MOST_CHARACTERS }))),
    env: optional(
      'The environment variable of the engine that holds the value, for example BILLING_URL.',
      Variable,
    ),
    file: optional(
      'The path of a file that the engine reads, for example /etc/billing/url.',
      Type.String({ minLength: 1, maxLength: 4096 }),
    ),
    secretKeyRef: optional(
      'A key of a Secret in the namespace of this resource, with the whole value. The engine stores it encrypted, under a name ' +
        'that the metadata has instead; a change of the Secret is applied without a restart.',
      KEY_REF,
    ),
    configMapKeyRef: optional(
      'A key of a ConfigMap in the namespace of this resource. The metadata contains the value, which is not secret.',
      KEY_REF,
    ),
  };
}
const MEMBERS = ['value', 'env', 'file', 'secretKeyRef', 'configMapKeyRef'] as const;

/** The title of the schema of a value, by which the reference pages recognise it. */
export const VALUE_SOURCE = 'ValueSource';

/** Returns the value as the metadata contains it. */
export function readValue(source: ValueSource, { context, path }: FieldContext): MetadataValue {
  if (source.value !== undefined) return source.value;
  if (source.env !== undefined) return { from_env: source.env };
  if (source.file !== undefined) return { from_file: source.file };
  return context.valueFrom(source, path);
}

/** The form of a value in a member of its own: text, or where it is. */
const AS_VALUE: MetadataForm = { write: readValue, read: (value) => describeValue(value), isWhole: true };

/** The form of a value in a member that is only text: a template. */
const AS_TEMPLATE: MetadataForm = {
  write: (source, writing) => templateFor(readValue(source, writing)),
  read: describeTemplate,
  isWhole: true,
};

/** Returns the form of a value in one of several members: `url`, or `url_from_env`, `url_from_value`, `url_from_file`. */
function asMember(name: string): MetadataForm {
  return {
    write: (source, writing) => fieldOf(name, readValue(source, writing)),
    read: (fields) => describeField(name, fields),
    isWhole: true,
    members: ['', '_from_env', '_from_value', '_from_file'].map((from) => `${name}${from}`),
  };
}

/** Returns the schema of a value that a field has as its content. `value` describes the text. */
export function valueSource(
  description: string,
  value = 'The value itself. Everyone who reads this resource sees it.',
) {
  const schema = closed(members(value, 1), exactlyOne('a value', ...MEMBERS));
  return { ...inForm(schema, AS_VALUE), description, title: VALUE_SOURCE };
}

/** Returns the schema of a URL of a webhook or service. */
export function urlSource(description: string) {
  return valueSource(
    description,
    'The URL itself. It may contain environment variables of the engine: {{BILLING_URL}}/graphql.',
  );
}

/** Returns the field of a URL that the object has in one of several members, such as `url` and `url_from_env`. */
export function urlMember(name: string, description: string) {
  return mappedTo('', inForm(urlSource(description), asMember(name)));
}

/** Returns the field of a URL that the object has as a template at the path `to`. */
export function urlTemplate(to: string, description: string) {
  return mappedTo(to, inForm(urlSource(description), AS_TEMPLATE));
}

/** Returns the field of the metadata for a value: `url`, or `url_from_env`, `url_from_value`, `url_from_file`. */
function fieldOf(name: string, value: MetadataValue): Readonly<Record<string, string>> {
  if (typeof value === 'string') return { [name]: value };
  return Object.fromEntries(Object.entries(value).map(([from, text]) => [`${name}_${from}`, text]));
}

/** Returns the template of the metadata for a value of a field without other forms: text, `{{NAME}}`, `{{value:NAME}}`, `{{file:PATH}}`. */
function templateFor(value: MetadataValue): string {
  if (typeof value === 'string') return value;
  if ('from_env' in value) return `{{${value.from_env}}}`;
  return 'from_value' in value ? `{{value:${value.from_value}}}` : `{{file:${value.from_file}}}`;
}

/** Returns the Secret and its key that an operator stores under the name NAMESPACE/OWNER/SECRET/KEY (objects/value-name.ts); undefined for a
 *  name that another client chose. */
export function secretOfValue(value: string): { readonly name: string; readonly key: string } | undefined {
  const [, name, key] = /^[^/]+\/[0-9a-f]{12}\/([^/]+)\/([^/]+)$/.exec(value) ?? [];
  return name === undefined || key === undefined ? undefined : { name, key };
}

/** Returns the source of a template, the inverse of `templateFor`. */
function describeTemplate(template: string): ValueSource {
  const [, value] = /^\{\{value:([^{}]+)\}\}$/.exec(template) ?? [];
  const secret = value === undefined ? undefined : secretOfValue(value);
  if (secret) return { secretKeyRef: secret };
  const [, prefix, name] = /^\{\{(file:)?([^{}:]+)\}\}$/.exec(template) ?? [];
  if (name === undefined) return { value: template };
  return prefix === undefined ? { env: name } : { file: name };
}

/** Returns the source of a value of the metadata, the inverse of `readValue`; undefined for a value in the store of the engine that no Secret
 *  is the source of: no resource refers to it by its name. */
export function describeValue(value: unknown): ValueSource | undefined {
  if (typeof value === 'string') return { value };
  if (!isRecord(value)) return undefined;
  if (typeof value['from_env'] === 'string') return { env: value['from_env'] };
  if (typeof value['from_file'] === 'string') return { file: value['from_file'] };
  const secret = typeof value['from_value'] === 'string' ? secretOfValue(value['from_value']) : undefined;
  return secret && { secretKeyRef: secret };
}

/** Returns the source of a field of the metadata, the inverse of `fieldOf`. */
function describeField(name: string, fields: Readonly<Record<string, unknown>>): ValueSource | undefined {
  const text = fields[name];
  if (typeof text === 'string') return { value: text };
  return describeValue({
    from_env: fields[`${name}_from_env`],
    from_file: fields[`${name}_from_file`],
    from_value: fields[`${name}_from_value`],
  });
}

const HEADER = closed(
  {
    name: required('The name, for example authorization.', Type.String({ minLength: 1, maxLength: 255 })),
    ...members(
      'The value. It may contain environment variables of the engine: Bearer {{BILLING_TOKEN}}. Everyone who reads this resource sees it.',
      0,
    ),
  },
  exactlyOne('a header', ...MEMBERS),
);

/** The form of a header. One that no resource can have is described as empty, which callers find to be different. */
const AS_HEADER: MetadataForm = {
  write: ({ name, ...source }, writing) => ({ name, ...fieldOf('value', readValue(source, writing)) }),
  read: (header: Header) => ({ name: header.name, ...(describeField('value', header) ?? { value: '' }) }),
  isWhole: true,
};

export const Headers = withDescription(
  'Headers that the engine adds to each request, by name.',
  keyedList('name', inForm(HEADER, AS_HEADER), 100),
);
