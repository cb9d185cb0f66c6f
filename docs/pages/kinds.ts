/** docs/reference/kinds.md: every kind of custom resource, its fields and rules, from KINDS and their schemas. */
import { asJsonSchema, type JsonSchema } from '../../engine/metadata/walk-schema.ts';
import { GROUP_VERSION, KINDS, type KindRow } from '../../operator/kinds.ts';
import { code, page, table } from './markdown.ts';

export function kindsPage(): string {
  return page(
    'Kinds',
    'Generated from `operator/kinds.ts` by `make generate`.',
    [
      `All kinds are of ${code(GROUP_VERSION)}, namespaced, in the category ${code('pergola')}. No field has a default: what is`,
      'left out means what the description says, and Argo CD has nothing to fight over.',
    ].join('\n'),
    ...KINDS.map(section),
  );
}

function section(row: KindRow): string {
  const rules: string[] = [];
  const fields = fieldsOf(asJsonSchema(row.spec), 'spec', rules);
  return [
    `## ${row.kind}`,
    row.description,
    `Plural ${code(row.plural)}, short ${row.shortNames.map(code).join(', ')}. A deleted resource's objects: ${row.deletionPolicy}.`,
    table(['Field', 'Type', 'Required', 'Meaning'], fields),
    ...(rules.length > 0 ? [`Rules:\n\n${[...new Set(rules)].map((rule) => `- ${rule}`).join('\n')}`] : []),
  ].join('\n\n');
}

type Documented = JsonSchema & {
  readonly description?: string;
  readonly 'x-kubernetes-validations'?: readonly { readonly message: string }[];
};

/** Fields to a depth that is still a table; deeper ones are in the definition itself (`kubectl explain`). */
const MOST_DOTS = 3;

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
    const isShallow = at.split('.').length <= MOST_DOTS;
    return [own, ...(inner.properties && isShallow ? fieldsOf(inner, at, rules) : [])];
  });
}

function typeOf(schema: JsonSchema): string {
  const branches = schema.anyOf ?? [];
  if (branches.length > 0) return [...new Set(branches.map(typeOf))].join(' or ');
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  return typeof schema.type === 'string' ? schema.type : 'any';
}
