/** Values that a resource may contain or refer to: text, an environment variable or a file of the engine, or a key of a Secret or ConfigMap
 *  in the namespace of the resource. URLs, headers, passwords and certificates have this form in every kind.
 *  In: a ValueSource. Out: the fields of the metadata (`url`, `url_from_env`, `url_from_value`, `url_from_file`), and back.
 *  Not here: what the metadata has in its place (decide/value-sources.ts). */
import { type Header, isRecord, type PathStep, type Static, Type } from '@pergola/engine/metadata';
import { closed, exactlyOne, keyedList, Name, Variable, withDescription } from './annotate.ts';
import type { FieldPath } from './field-path.ts';
import type { MetadataValue, TranslateContext, ValueSource } from './kind.ts';

/** The schema of a reference to a key of a Secret or ConfigMap. */
export const KEY_REF = closed({
  name: withDescription('The name of the object, in the namespace of this resource.', Name),
  key: withDescription('The key in its data.', Name),
});
export const ConfigMapKeyRef = withDescription(
  'A key of a ConfigMap in the namespace of this resource.',
  KEY_REF,
);

const MOST_CHARACTERS = 65_536;

/** Returns the members of a value: exactly one of them is set. */
function members(value: string, minLength: number) {
  return {
    value: Type.Optional(withDescription(value, Type.String({ minLength, maxLength: MOST_CHARACTERS }))),
    env: Type.Optional(
      withDescription(
        'The environment variable of the engine that holds the value, for example BILLING_URL.',
        Variable,
      ),
    ),
    file: Type.Optional(
      withDescription(
        'The path of a file that the engine reads, for example /etc/billing/url.',
        Type.String({ minLength: 1, maxLength: 4096 }),
      ),
    ),
    secretKeyRef: Type.Optional(
      withDescription(
        'A key of a Secret in the namespace of this resource, with the whole value. The engine stores it encrypted, under a name ' +
          'that the metadata has instead; a change of the Secret is applied without a restart.',
        KEY_REF,
      ),
    ),
    configMapKeyRef: Type.Optional(
      withDescription(
        'A key of a ConfigMap in the namespace of this resource. The metadata contains the value, which is not secret.',
        KEY_REF,
      ),
    ),
  };
}
const MEMBERS = ['value', 'env', 'file', 'secretKeyRef', 'configMapKeyRef'] as const;

/** The title of the schema of a value, by which the reference pages recognise it. */
export const VALUE_SOURCE = 'ValueSource';

/** Returns the schema of a value that a field has as its content. `value` describes the text. */
export function valueSource(
  description: string,
  value = 'The value itself. Everyone who reads this resource sees it.',
) {
  const schema = closed(members(value, 1), exactlyOne('a value', ...MEMBERS));
  return { ...schema, description, title: VALUE_SOURCE };
}

/** Returns the schema of a URL of a webhook or service. */
export function urlSource(description: string) {
  return valueSource(
    description,
    'The URL itself. It may contain environment variables of the engine: {{BILLING_URL}}/graphql.',
  );
}

/** Returns the value as the metadata contains it. `path` is that of the source: `spec.url`. */
export function readValue(source: ValueSource, path: string, context: TranslateContext): MetadataValue {
  if (source.value !== undefined) return source.value;
  if (source.env !== undefined) return { from_env: source.env };
  if (source.file !== undefined) return { from_file: source.file };
  return context.valueFrom(source, path);
}

/** Returns the field of the metadata for a value: `url`, or `url_from_env`, `url_from_value`, `url_from_file`. */
export function fieldOf(name: string, value: MetadataValue): Readonly<Record<string, string>> {
  if (typeof value === 'string') return { [name]: value };
  return Object.fromEntries(Object.entries(value).map(([from, text]) => [`${name}_${from}`, text]));
}

/** Returns the template of the metadata for a value of a field without other forms: text, `{{NAME}}`, `{{value:NAME}}`, `{{file:PATH}}`. */
export function templateFor(value: MetadataValue): string {
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
export function describeTemplate(template: string): ValueSource {
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
export function describeField(
  name: string,
  fields: Readonly<Record<string, unknown>>,
): ValueSource | undefined {
  const text = fields[name];
  if (typeof text === 'string') return { value: text };
  return describeValue({
    from_env: fields[`${name}_from_env`],
    from_file: fields[`${name}_from_file`],
    from_value: fields[`${name}_from_value`],
  });
}

export const Headers = withDescription(
  'Headers that the engine adds to each request, by name.',
  keyedList(
    'name',
    closed(
      {
        name: Type.String({
          minLength: 1,
          maxLength: 255,
          description: 'The name, for example authorization.',
        }),
        ...members(
          'The value. It may contain environment variables of the engine: Bearer {{BILLING_TOKEN}}. Everyone who reads this resource sees it.',
          0,
        ),
      },
      exactlyOne('a header', ...MEMBERS),
    ),
    100,
  ),
);
export type Headers = Static<typeof Headers>;

/** The fields of a header in the metadata that hold its value. */
const HEADER_VALUES = ['value', 'value_from_env'];

/** Returns the field paths of `spec.headers`. `within` is the path in the definition that contains the list. */
export function headerPaths(
  headers: Headers | undefined,
  within: readonly PathStep[] = [],
): readonly FieldPath[] {
  return (headers ?? []).flatMap((_, i) =>
    HEADER_VALUES.map((member) => ({ at: `spec.headers[${i}]`, of: [...within, 'headers', i, member] })),
  );
}

/** Returns the headers of the metadata. `path` is that of the list. */
export function headersOf(
  headers: Headers | undefined,
  context: TranslateContext,
  path = 'spec.headers',
): readonly object[] | undefined {
  return headers?.map(({ name, ...source }, i) => ({
    name,
    ...fieldOf('value', readValue(source, `${path}[${i}]`, context)),
  }));
}

/** Returns the headers of a spec, the inverse of `headersOf`. A header that no resource can have becomes an empty one, which callers find to
 *  be different. */
export function describeHeaders(headers: readonly Header[] | undefined): readonly object[] | undefined {
  return headers?.map((header) => ({
    name: header.name,
    ...(describeField('value', header) ?? { value: '' }),
  }));
}
