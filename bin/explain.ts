/** `pergola explain KIND[.FIELD…]`: prints the documentation of a kind of custom resource or of one of its fields, as `kubectl explain` does,
 *  without a cluster. In: the definitions (crds/), which are derived from KINDS. Exit codes: 0 printed, 2 there is no such kind or field.
 *  Not here: the schemas and their descriptions (operator/kinds). */
import { definition } from '../crds/generate.ts';
import { nearest } from '../engine/errors/nearest.ts';
import { FlagProblem, reportFailure } from '../operator/folder/flag-problem.ts';
import { type FlagTable, flagLines, parseFlagTable } from '../operator/folder/flag-table.ts';
import { API_GROUP, API_VERSION, KINDS, type KindRow } from '../operator/kinds.ts';

const FLAGS = {
  recursive: { doc: 'print the names and types of all nested fields, without their descriptions' },
  help: { short: 'h', doc: 'print this help' },
} as const satisfies FlagTable;

const HELP = `pergola explain KIND[.FIELD…]: print the documentation of a kind of custom resource, or of a field. Needs no cluster.

KIND is a kind, its plural, or a short name. Without KIND, the kinds are listed.

${flagLines(FLAGS, { width: 18 })}

  pergola explain Table
  pergola explain table.spec.permissions.select
  pergola explain source --recursive

Exit codes: 0 printed, 2 there is no such kind or field.
`;

/** A schema of a definition. */
export type FieldSchema = {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly additionalProperties?: FieldSchema;
  readonly items?: FieldSchema;
};

export async function run(argv: readonly string[]): Promise<number> {
  try {
    const { values, words } = parseFlagTable(FLAGS, argv, { hasWords: true });
    if (words.length > 1)
      throw new FlagProblem(`expected one KIND or KIND.FIELD, not ${words.join(' and ')}`);
    const isHelp = values['help'] === true;
    process.stdout.write(isHelp ? HELP : explained(words[0], values['recursive'] === true));
    return 0;
  } catch (error) {
    return reportFailure('explain', error);
  }
}

/** Returns the documentation. Raises FlagProblem for an unknown kind or field. */
export function explained(name: string | undefined, isRecursive: boolean): string {
  if (name === undefined) return kindList();
  const [first = '', ...path] = name.split('.');
  const row = rowOf(first);
  const { schema, isRequired, fields } = fieldAt(row, path);
  const last = fields.at(-1);
  const lines = [
    `GROUP:      ${API_GROUP}`,
    `KIND:       ${row.kind}`,
    `VERSION:    ${API_VERSION}`,
    '',
    ...(last === undefined ? [] : [`FIELD: ${fields.join('.')} ${typeText(schema, isRequired)}`, '']),
    'DESCRIPTION:',
    ...descriptionLines(schema, '    '),
    '',
    ...(Object.keys(propertiesOf(schema)).length === 0
      ? []
      : ['FIELDS:', ...fieldLines(schema, isRecursive, '  '), '']),
  ];
  return lines.join('\n');
}

function kindList(): string {
  const width = Math.max(...KINDS.map(({ kind }) => kind.length));
  const lines = KINDS.map(
    ({ kind, description }: KindRow) => `${kind.padEnd(width)}  ${firstSentence(description)}`,
  );
  return `${lines.join('\n')}\n`;
}

function firstSentence(text: string): string {
  return /^.*?\.(?=\s|$)/s.exec(text)?.[0].replaceAll(/\s+/g, ' ') ?? text;
}

function rowOf(name: string): KindRow {
  const wanted = name.toLowerCase();
  const namesOf = ({ kind, plural, singular, shortNames }: KindRow) => [
    kind,
    plural,
    singular,
    ...shortNames,
  ];
  const row = KINDS.find((each: KindRow) => namesOf(each).some((one) => one.toLowerCase() === wanted));
  if (row !== undefined) return row;
  const near = nearest(name, KINDS.flatMap(namesOf));
  throw new FlagProblem(`there is no kind ${name}${near === undefined ? '' : `; did you mean ${near}?`}`);
}

/** Returns the schema of a kind, as its definition has it. */
export function schemaOf(row: KindRow): FieldSchema {
  const { versions } = definition(row).spec as {
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: FieldSchema } }[];
  };
  return versions[0]!.schema.openAPIV3Schema;
}

type Field = {
  readonly schema: FieldSchema;
  readonly isRequired: boolean;
  readonly fields: readonly string[];
};

/** Returns the field at a path, which may leave out `spec`. Raises FlagProblem. */
function fieldAt(row: KindRow, path: readonly string[]): Field {
  const root = schemaOf(row);
  const isOfSpec = path[0] !== undefined && !Object.hasOwn(propertiesOf(root), path[0]);
  const fields = isOfSpec ? ['spec', ...path] : path;
  let [schema, isRequired] = [root, false];
  for (const [i, field] of fields.entries()) {
    const properties = propertiesOf(schema);
    if (!Object.hasOwn(properties, field)) {
      const near = nearest(field, Object.keys(properties));
      const parent = [row.kind, ...fields.slice(0, i)].join('.');
      throw new FlagProblem(
        `${parent} has no field ${field}${near === undefined ? '' : `; did you mean ${near}?`}`,
      );
    }
    isRequired = ownerOf(schema).required?.includes(field) ?? false;
    schema = properties[field]!;
  }
  return { schema, isRequired, fields };
}

/** Returns the schema that has the fields: of an item of a list, or of a value of a map. */
function ownerOf(schema: FieldSchema): FieldSchema {
  const inner =
    schema.items ??
    (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
  return inner === undefined ? schema : ownerOf(inner);
}

export function propertiesOf(schema: FieldSchema): Readonly<Record<string, FieldSchema>> {
  return ownerOf(schema).properties ?? {};
}

function fieldLines(schema: FieldSchema, isRecursive: boolean, indent: string): readonly string[] {
  const { required = [] } = ownerOf(schema);
  return Object.entries(propertiesOf(schema)).flatMap(([name, field]) => {
    const line = `${indent}${name}  ${typeText(field, required.includes(name))}`;
    if (isRecursive) return [line, ...fieldLines(field, true, `${indent}  `)];
    return [line, ...descriptionLines(field, `${indent}  `), ''];
  });
}

function typeText(schema: FieldSchema, isRequired: boolean): string {
  return `<${typeName(schema)}>${isRequired ? ' -required-' : ''}`;
}

function typeName({ type, items, additionalProperties }: FieldSchema): string {
  if (items !== undefined) return `[]${typeName(items)}`;
  if (typeof additionalProperties === 'object') return `map[string]${typeName(additionalProperties)}`;
  return type === undefined ? 'any' : type === 'object' ? 'Object' : type;
}

/** The values of a field follow its description. */
function descriptionLines(schema: FieldSchema, indent: string): readonly string[] {
  const values = schema.enum ?? ownerOf(schema).enum;
  const text = schema.description ?? schema.items?.description ?? ownerOf(schema).description ?? '';
  const lines = text === '' ? [] : text.trimEnd().split('\n');
  if (values !== undefined) lines.push(`One of: ${values.map((value) => JSON.stringify(value)).join(', ')}`);
  return lines.map((line) => (line === '' ? '' : `${indent}${line}`));
}
