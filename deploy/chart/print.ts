/** Renders VALUES as values.yaml, values.schema.json, and rows for docs/reference/chart.md.
 *  Not here: the paths of the files (generate.ts). */
import { dump } from 'js-yaml';
import { type Group, isGroup, type Node, type Value } from './value.ts';

const WIDTH = 110;

/** Returns the values with their defaults as YAML, each below its help. */
export function valuesYaml({ doc, values }: Group): string {
  const head = [
    'Generated from deploy/chart/values.ts by `make generate`; edits are lost.',
    ...(doc ? [doc] : []),
  ];
  const parts = Object.entries(values).map(([name, node]) => yamlOf(name, node, ''));
  return `${head.map((line) => `# ${line}\n`).join('')}\n${parts.join('\n')}`;
}

function yamlOf(name: string, node: Node, indent: string): string {
  const help = wrapped(node.doc ?? '', WIDTH - indent.length - 2).map((line) => `${indent}# ${line}\n`);
  if (!isGroup(node)) return `${help.join('')}${indent}${name}: ${flow(node.default)}\n`;
  const inner = Object.entries(node.values).map(([child, value]) => yamlOf(child, value, `${indent}  `));
  return `${help.join('')}${indent}${name}:\n${inner.join('')}`;
}

/** Returns a value as YAML on one line. */
function flow(value: unknown): string {
  return dump(value, { flowLevel: 0, lineWidth: -1 }).trim();
}

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ').filter(Boolean)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Returns the JSON Schema that helm validates values with before it renders. */
export function valuesSchema(values: Group): string {
  const { properties, ...rest } = schemaOf(values) as { properties: object };
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...rest,
    // Values that a parent chart shares with its subcharts.
    properties: { global: { type: 'object' }, ...properties },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

function schemaOf(node: Node): object {
  const description = node.doc ? { description: node.doc } : {};
  if (!isGroup(node)) return { ...description, ...node.schema };
  const properties = Object.entries(node.values).map(([name, child]) => [name, schemaOf(child)]);
  return {
    ...description,
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(properties),
  };
}

/** Returns the values that stand in for null as YAML: the templates fill them in before they read a value. */
export function valuesWhenNull(values: Group): string {
  const head =
    'Generated from deploy/chart/values.ts by `make generate`: what a value is that is null or missing.';
  return `# ${head}\n${dump(whenNull(values), { lineWidth: WIDTH, noRefs: true })}`;
}

function whenNull(node: Node): unknown {
  if (isGroup(node)) {
    return Object.fromEntries(Object.entries(node.values).map(([name, child]) => [name, whenNull(child)]));
  }
  const { type, minLength, minItems } = node.schema as {
    type?: string;
    minLength?: number;
    minItems?: number;
  };
  if (type === 'boolean') return false;
  if (type === 'object') return {};
  if (type === 'array' && minItems === undefined) return [];
  if (type === 'string' && minLength === undefined) return '';
  return node.default;
}

export type ValueRow = { readonly path: string; readonly default: string; readonly doc: string };

/** Returns every value with its path for `--set`. If the first value of a group has no help, it gets the help of the group. */
export function valueRows(values: Group): readonly ValueRow[] {
  return Object.entries(values.values).flatMap(([name, node]) => rowsOf(name, node));
}

function rowsOf(path: string, node: Node): readonly ValueRow[] {
  if (!isGroup(node)) return [rowOf(path, node)];
  const rows = Object.entries(node.values).flatMap(([name, child]) => rowsOf(`${path}.${name}`, child));
  const [first, ...rest] = rows;
  return node.doc && first?.doc === '' ? [{ ...first, doc: node.doc }, ...rest] : rows;
}

function rowOf(path: string, { doc, default: preset }: Value): ValueRow {
  return { path, default: flow(preset), doc };
}
