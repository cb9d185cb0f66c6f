/** Edits YAML: changes a text so that it has other values, and keeps the comments and the style of what stays.
 *  In: a text with any number of documents, and the new value of each. Out: the new text. Pure.
 *  A change that cannot be made in place, such as one behind an alias, prints the whole document anew; its comments are lost. */

import { isPlainEverywhere, isRecord, printYaml, YAML_SCHEMA } from '@pergola/engine/metadata';
import { dump, loadAll } from 'js-yaml';
import { parseTree, type YamlEntry, type YamlNode } from './tree.ts';

export type TextEdit = { readonly start: number; readonly end: number; readonly text: string };
type Fields = Readonly<Record<string, unknown>>;

/** The longest mapping or list that is printed on one line. */
const LONGEST_LINE = 100;

/** Returns the text with the new values; `values` has one for each document. Throws YAMLException for invalid YAML. */
export function editYaml(text: string, values: readonly unknown[]): string {
  const old = load(text);
  const documents = parseTree(text);
  const edits = documents.flatMap(({ root, isIndirect }, i) => {
    if (isSame(old[i], values[i]) || !root) return [];
    if (isIndirect) return [{ start: root.start, end: root.end, text: printYaml(values[i]).trimEnd() }];
    return editsOf(text, root, old[i], values[i]);
  });
  const edited = applyEdits(text, edits);
  return hasValues(edited, values) ? edited : printedWhole(values);
}

function load(text: string): readonly unknown[] {
  return loadAll(text, { schema: YAML_SCHEMA });
}

function hasValues(text: string, values: readonly unknown[]): boolean {
  try {
    return isSame(load(text), values);
  } catch {
    return false;
  }
}

function printedWhole(values: readonly unknown[]): string {
  return values.map((value) => (value == null ? '' : printYaml(value))).join('---\n');
}

/** Returns the text with the edits, which do not overlap. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  return edits
    .toSorted((a, b) => b.start - a.start || b.end - a.end)
    .reduce((result, { start, end, text: by }) => result.slice(0, start) + by + result.slice(end), text);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function editsOf(text: string, node: YamlNode, old: unknown, value: unknown): readonly TextEdit[] {
  if (isSame(old, value)) return [];
  if (node.kind === 'mapping' && !node.isFlow && isRecord(old) && isRecord(value)) {
    const edits = editsOfMapping(text, node.entries, old, value);
    if (edits) return edits;
  }
  if (node.kind === 'sequence' && !node.isFlow && Array.isArray(old) && Array.isArray(value)) {
    if (old.length === value.length) {
      return node.items.flatMap((item, i) => editsOf(text, item, old[i], value[i]));
    }
  }
  return [{ start: node.start, end: node.end, text: inlineText(value) }];
}

/** Returns the edits of a block mapping; undefined when the common keys change their order or all keys are removed. */
function editsOfMapping(
  text: string,
  entries: readonly YamlEntry[],
  old: Fields,
  value: Fields,
): readonly TextEdit[] | undefined {
  const common = entries.filter(({ key }) => key in value);
  const commonInValue = Object.keys(value).filter((key) => key in old);
  if (
    Object.keys(value).length === 0 ||
    !isSame(
      common.map(({ key }) => key),
      commonInValue,
    )
  )
    return undefined;
  const indent = columnOf(text, entries[0]!.keySpan.start);
  const edits = common.flatMap((entry) => editsOfEntry(text, entry, indent, old, value));
  // The keys that are removed and added before the first common key, between two of them, and after the last one.
  const bounds = [...common, undefined];
  bounds.forEach((bound, i) => {
    const before = common[i - 1];
    const removed = between(entries, ({ key }) => key, before?.key, bound?.key);
    const added = between(Object.keys(value), (key) => key, before?.key, bound?.key);
    edits.push(...editsOfGap(text, { before, removed, added, bound, indent }, old, value));
  });
  return edits;
}

function editsOfEntry(
  text: string,
  entry: YamlEntry,
  indent: number,
  old: Fields,
  value: Fields,
): readonly TextEdit[] {
  const { key, value: node } = entry;
  if (isSame(old[key], value[key])) return [];
  const isBlock = (node.kind === 'mapping' || node.kind === 'sequence') && !node.isFlow;
  const isInPlace = isBlock && isCollection(value[key]);
  const edits = isInPlace ? editsOf(text, node, old[key], value[key]) : [];
  const isReplacement = edits.length === 1 && edits[0]!.start === node.start && edits[0]!.end === node.end;
  if (edits.length > 0 && !isReplacement) return edits;
  return [
    {
      start: entry.keySpan.start,
      end: Math.max(node.end, entry.keySpan.end),
      text: entryText(key, value[key], indent),
    },
  ];
}

type Gap = {
  readonly before: YamlEntry | undefined;
  readonly removed: readonly YamlEntry[];
  readonly added: readonly string[];
  readonly bound: YamlEntry | undefined;
  readonly indent: number;
};

function editsOfGap(
  text: string,
  { before, removed, added, bound, indent }: Gap,
  old: Fields,
  value: Fields,
): readonly TextEdit[] {
  const lines = (keys: readonly string[]) =>
    keys.map((key) => entryText(key, value[key], indent)).join(`\n${' '.repeat(indent)}`);
  if (removed.length === 0) {
    if (added.length === 0) return [];
    if (!before)
      return [
        {
          start: bound!.keySpan.start,
          end: bound!.keySpan.start,
          text: `${lines(added)}\n${' '.repeat(indent)}`,
        },
      ];
    const end = lineEnd(text, before.value.end);
    return [{ start: end, end, text: `\n${' '.repeat(indent)}${lines(added)}` }];
  }
  if (removed.length === added.length) {
    return removed.flatMap((entry, i) =>
      renaming(text, entry, added[i]!, indent, old[entry.key], value[added[i]!]),
    );
  }
  const [first, ...others] = removed;
  if (added.length === 0) return removed.map((entry, i) => removal(text, entry, removed[i + 1] ?? bound));
  return [
    { start: first!.keySpan.start, end: first!.value.end, text: lines(added) },
    ...others.map((entry, i) => removal(text, entry, others[i + 1] ?? bound)),
  ];
}

/** Returns the edits that give an entry another key, and another value if it differs. */
function renaming(
  text: string,
  entry: YamlEntry,
  key: string,
  indent: number,
  old: unknown,
  value: unknown,
): readonly TextEdit[] {
  const { start, end } = entry.keySpan;
  const named = { ...entry, key };
  const [edit, ...others] = editsOfEntry(text, named, indent, { [key]: old }, { [key]: value });
  const isReplaced = edit?.start === start;
  const edits = edit ? [edit, ...others] : [];
  return isReplaced ? edits : [{ start, end, text: scalarText(key) }, ...edits];
}

/** Returns the edit that removes an entry with its lines. The first entry of a list item leaves its place to the next one. */
function removal(text: string, { keySpan, value }: YamlEntry, next: YamlEntry | undefined): TextEdit {
  const start = text.lastIndexOf('\n', keySpan.start - 1) + 1;
  const isOnOwnLine = text.slice(start, keySpan.start).trim() === '';
  if (!isOnOwnLine && next) return { start: keySpan.start, end: next.keySpan.start, text: '' };
  const end = lineEnd(text, value.end);
  return isOnOwnLine
    ? { start, end: Math.min(end + 1, text.length), text: '' }
    : { start: keySpan.start, end, text: '' };
}

/** Returns the items between the items with the two keys. An absent key is the beginning or the end of the list. */
function between<T>(
  list: readonly T[],
  keyOf: (item: T) => string,
  after: string | undefined,
  before: string | undefined,
): readonly T[] {
  const from = after === undefined ? 0 : list.findIndex((item) => keyOf(item) === after) + 1;
  const to = before === undefined ? list.length : list.findIndex((item) => keyOf(item) === before);
  return list.slice(from, to);
}

/** Returns `key: value` at an indentation, without that of its first line. */
function entryText(key: string, value: unknown, indent: number): string {
  const inline = isCollection(value) ? flowText(value) : undefined;
  if (inline !== undefined) return `${scalarText(key)}: ${inline}`;
  if (!isRecord(value)) return blockText({ [key]: value }, indent);
  const inner = indent + 2;
  const lines = Object.entries(value).map(
    ([name, one]) => `\n${' '.repeat(inner)}${entryText(name, one, inner)}`,
  );
  return `${scalarText(key)}:${lines.join('')}`;
}

/** Returns a value on one line, as part of a flow collection or of a list. */
function inlineText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inlineText).join(', ')}]`;
  if (!isRecord(value)) return inlineScalar(value);
  const entries = Object.entries(value).map(([key, inner]) => `${inlineScalar(key)}: ${inlineText(inner)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

function inlineScalar(value: unknown): string {
  // Within a list, texts are quoted that would end it.
  const text = dump([value], { flowLevel: 0, lineWidth: -1, quoteStyle: 'double' }).trim().slice(1, -1);
  return text === value && !isPlainEverywhere(text) ? JSON.stringify(text) : text;
}

/** Returns a collection on one line; undefined when that is too long or a text has several lines. */
function flowText(value: unknown): string | undefined {
  const text = inlineText(value);
  return text.length > LONGEST_LINE || text.includes('\n') || text.includes('\\n') ? undefined : text;
}

function blockText(value: unknown, indent: number): string {
  return printYaml(value)
    .trimEnd()
    .replaceAll('\n', `\n${' '.repeat(indent)}`);
}

function scalarText(text: string): string {
  return printYaml(text).trimEnd();
}

function isCollection(value: unknown): boolean {
  return isRecord(value) || Array.isArray(value);
}

function columnOf(text: string, offset: number): number {
  return offset - (text.lastIndexOf('\n', offset - 1) + 1);
}

function lineEnd(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end;
}
