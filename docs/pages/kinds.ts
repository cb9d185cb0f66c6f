/** docs/reference/kinds.md and a page for every kind of custom resource: an example, its fields and rules, from KINDS, their
 *  schemas and deploy/examples/every-kind. */
import { exampleOf, fileNameOf } from '../../crds/example.ts';
import { asJsonSchema, type JsonSchema } from '../../engine/metadata/walk-schema.ts';
import { VALUE_SOURCE, valueSource } from '../../operator/kinds/value-source.ts';
import { GROUP_VERSION, KINDS, type KindRow } from '../../operator/kinds.ts';
import { code, page, table } from './markdown.ts';

export function kindsPage(): string {
  const rows = KINDS.map(({ kind, shortNames, description, concerns }: KindRow) => [
    `[${kind}](${fileOf(kind)})`,
    shortNames.map(code).join(', '),
    concerns === 'engine' ? 'the whole engine' : 'single objects',
    description,
  ]);
  return page(
    'Kinds',
    GENERATED,
    [
      `All kinds are of ${code(GROUP_VERSION)}, namespaced, in the category ${code('pergola')}. No field has a default: what is`,
      'left out means what the description says, and Argo CD has nothing to fight over. Each page shows an example; together',
      'they are `deploy/examples/every-kind`, which tests apply.',
    ].join('\n'),
    table(['Kind', 'Short', 'Concerns', 'What it is'], rows),
    CONCERNS,
  );
}

const CONCERNS = [
  'Kinds that concern the whole engine are for administrators. With `rbac.aggregate` the chart adds them to the Kubernetes role',
  '`admin` of a namespace, and the other kinds to `edit` and `admin`. In the namespace of the Engine that is the only check. A resource',
  'of such a kind in another namespace needs a grant (`Engine.spec.grants`) that names the kind; a grant without `kinds` does not',
  'cover it.',
].join('\n');

/** Returns the path of a kind's page, relative to docs/reference. */
export function fileOf(kind: string): string {
  return `kinds/${fileNameOf(kind)}.md`;
}

/** One kind: its fields, its rules, an example. */
export function kindPage(row: KindRow): string {
  const rules: string[] = [];
  const fields = fieldsOf(asJsonSchema(row.spec), 'spec', rules);
  const hasValues = fields.some(([, type]) => type === VALUE_LINK);
  return page(
    row.kind,
    GENERATED,
    row.description,
    `Plural ${code(row.plural)}, short ${row.shortNames.map(code).join(', ')}. A deleted resource's objects: ${row.deletionPolicy}.`,
    `\`\`\`yaml\n${exampleOf(row.kind)}\n\`\`\``,
    table(['Field', 'Type', 'Required', 'Meaning'], fields),
    ...(rules.length > 0 ? [`Rules:\n\n${[...new Set(rules)].map((rule) => `- ${rule}`).join('\n')}`] : []),
    ...(hasValues ? [valuesSection()] : []),
  );
}

const GENERATED = 'Generated from `operator/kinds.ts` by `make generate`.';

type Documented = JsonSchema & {
  readonly description?: string;
  readonly title?: string;
  readonly enum?: readonly unknown[];
  readonly 'x-kubernetes-validations'?: readonly { readonly message: string }[];
};

const VALUE_LINK = '[ValueSource](#valuesource)';

/** Returns the section about the members of a ValueSource, which is the same in every kind. */
function valuesSection(): string {
  const { properties = {} } = asJsonSchema(valueSource(''));
  const members = Object.entries(properties).map(([name, member]) => [
    code(name),
    member.properties ? `{${Object.keys(member.properties).join(', ')}}` : typeOf(member),
    (member as Documented).description ?? '',
  ]);
  return [
    '## ValueSource',
    'A value from elsewhere. It has exactly one of these members:',
    table(['Member', 'Type', 'Meaning'], members),
  ].join('\n\n');
}

function isValueSource(schema: JsonSchema): boolean {
  return (schema as Documented).title === VALUE_SOURCE;
}

function fieldsOf(schema: JsonSchema, path: string, rules: string[]): string[][] {
  const { properties = {}, required = [] } = schema;
  rules.push(...((schema as Documented)['x-kubernetes-validations'] ?? []).map(({ message }) => message));
  return Object.entries(properties).flatMap(([name, sub]) => {
    const { description = '' } = sub as Documented;
    const isList = sub.items !== undefined;
    const inner = sub.items ?? sub;
    const at = `${path}.${name}${isList ? '[]' : ''}`;
    rules.push(...((sub as Documented)['x-kubernetes-validations'] ?? []).map(({ message }) => message));
    const own = [
      code(at),
      isList ? `list of ${typeOf(inner)}` : typeOf(sub),
      required.includes(name) ? 'yes' : 'no',
      description,
    ];
    const hasFields = inner.properties && !isValueSource(inner);
    return [own, ...(hasFields ? fieldsOf(inner, at, rules) : [])];
  });
}

function typeOf(schema: JsonSchema): string {
  const branches = schema.anyOf ?? [];
  if (branches.length > 0) return [...new Set(branches.map(typeOf))].join(' or ');
  if (isValueSource(schema)) return VALUE_LINK;
  const { enum: values } = schema as Documented;
  if (values) return values.map((value) => code(String(value))).join(' or ');
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  return typeof schema.type === 'string' ? schema.type : 'any';
}
