/** Prints resources as people write them: lists of names on one line, small mappings on one line, a comment above.
 *  In: a resource. Out: YAML. Pure. Not here: YAML that keeps the style of a file (operator/yaml). */
import { isPlainEverywhere, isRecord, printYaml } from '../../engine/metadata/index.ts';

/** The most characters of a line with a list or mapping. */
const MOST_COLUMNS = 100;
/** The level of the items of lists. Above it, mappings with collections are printed as blocks. */
const BLOCK_LEVELS = 3;

/** Words that are plain in every version of YAML. Printing others takes a hundred times as long. */
const SURELY_PLAIN = /^(?!(?:true|false|yes|no|on|off|null|y|n)$)[A-Za-z][A-Za-z_]*$/i;

/** Prints a mapping as block YAML that begins at the column `indent`. */
export function printResource(value: Readonly<Record<string, unknown>>, indent = 0, level = 1): string {
  const lines = Object.entries(value).map(([key, inner]) => printEntry(key, inner, indent, level));
  return lines.join('');
}

/** Prints a list of mappings as it is below a key at the column `indent`. */
export function printItems(items: readonly unknown[], indent: number, level = BLOCK_LEVELS): string {
  const margin = ' '.repeat(indent);
  return items
    .map((item) => {
      if (!isRecord(item)) return `${margin}- ${scalar(item)}\n`;
      const text = printResource(item, indent + 2, level);
      return `${margin}- ${text.slice(indent + 2)}`;
    })
    .join('');
}

/** The ends of lines in every version of YAML. */
const LINE_ENDS = /\r\n|[\n\r\u0085\u2028\u2029]/;
/** The characters that YAML forbids. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: YAML forbids control characters.
const FORBIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\uFEFF\uFFFE\uFFFF]/g;

/** Prints text as comment lines. Every line of it begins with `#`, so none of it is read as YAML. */
export function printComment(text: string): string {
  return text
    .split(LINE_ENDS)
    .map((line) => line.replaceAll(FORBIDDEN, ''))
    .map((line) => `# ${line}`.trimEnd() + '\n')
    .join('');
}

function printEntry(key: string, value: unknown, indent: number, level: number): string {
  const margin = ' '.repeat(indent);
  const isBlock = level < BLOCK_LEVELS && isRecord(value) && (level === 1 || hasCollections(value));
  const line = `${margin}${scalar(key)}: ${isBlock ? '' : inline(value)}`;
  if (!isBlock && (line.length <= MOST_COLUMNS || !isCollection(value)) && !hasMappings(value)) {
    return `${line}\n`;
  }
  const head = `${margin}${scalar(key)}:\n`;
  if (Array.isArray(value)) return head + printItems(value, indent + 2);
  return head + printResource(value as Readonly<Record<string, unknown>>, indent + 2, level + 1);
}

function isCollection(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function hasCollections(value: object): boolean {
  return Object.values(value).some(isCollection);
}

/** True for a list of mappings, which is easier to change with one item per line. */
function hasMappings(value: unknown): boolean {
  return Array.isArray(value) && value.some((item) => isRecord(item));
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (!isRecord(value)) return scalar(value);
  const entries = Object.entries(value).map(([key, inner]) => `${scalar(key)}: ${inline(inner)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

/** Returns a scalar on one line that is read the same in a block and inside brackets. */
function scalar(value: unknown): string {
  if (typeof value === 'string' && SURELY_PLAIN.test(value)) return value;
  const text = printYaml(value).trimEnd();
  const isPlain = typeof value === 'string' && text === value;
  const isBlock = text.includes('\n');
  return isBlock || (isPlain && !isPlainEverywhere(text)) ? JSON.stringify(value) : text;
}
