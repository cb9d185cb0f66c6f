/** The line above a document that says its JSON Schema to editors: `# yaml-language-server: $schema=ADDRESS`. The YAML language server reads one for
 *  each document: the first in the document, or above the `---` of the first document.
 *  In: a text, and the address for each document. Out: the text with the lines. Pure. Not here: the addresses (../folder/schemas.ts).
 *  Reference: yaml-language-server, "Using inlined schema". */
import { YAML_SCHEMA } from '@pergola/engine/metadata';
import { loadAll } from 'js-yaml';
import { applyEdits, type TextEdit } from './edit.ts';
import { parseTree, type YamlNode } from './tree.ts';

export type DocumentSchemas = {
  /** Returns the address of the schema of a document; undefined when the document gets no line. */
  readonly schemaOf: (document: unknown) => string | undefined;
  /** True when the new address replaces this one, which a line names already. */
  readonly isReplaced: (address: string) => boolean;
};

const LINE = /^\uFEFF?[ \t]*#[ \t]+yaml-language-server[ \t]*:.*$/m;
const ADDRESS = /\$schema=(\S*)/;
/** The beginning of a document or the end of the one before. */
const MARKER = /^\uFEFF?(?:---|\.\.\.)(?=\s|$)/gm;

/** Returns the line, with its end. */
export function schemaLine(address: string): string {
  return `# yaml-language-server: $schema=${address}\n`;
}

/** Returns the text with a line for each document that has a schema. A line that is there is kept, or gets the new address. Throws YAMLException. */
export function withSchemaLines(text: string, { schemaOf, isReplaced }: DocumentSchemas): string {
  const values = loadAll(text, { schema: YAML_SCHEMA });
  const markers = [...text.matchAll(MARKER)];
  const edits = parseTree(text).flatMap(({ root }, i): readonly TextEdit[] => {
    const address = root && schemaOf(values[i]);
    if (!root || address === undefined) return [];
    const marker = markers.findLast(({ index }) => index < root.start);
    // A line above the first marker counts, too.
    const start = i === 0 ? 0 : (marker?.index ?? 0);
    const end = markers.find(({ index }) => index >= root.end)?.index;
    const line = LINE.exec(text.slice(start, end));
    if (line === null) return [insertion(text, root, marker, address)];
    const named = ADDRESS.exec(line[0]);
    const at = start + line.index + (named?.index ?? 0) + '$schema='.length;
    // After the values begin, the line may be part of a text.
    const isKept = named === null || at > root.start || !isReplaced(named[1]!);
    return isKept ? [] : [{ start: at, end: at + named[1]!.length, text: address }];
  });
  return applyEdits(text, edits);
}

/** Returns the edit that adds the line as the first of the document, below its marker if it has one. */
function insertion(
  text: string,
  { start }: YamlNode,
  marker: RegExpExecArray | undefined,
  address: string,
): TextEdit {
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  const line = schemaLine(address).replace('\n', lineBreak);
  if (!marker) {
    const at = text.startsWith('\uFEFF') ? 1 : 0;
    return { start: at, end: at, text: line };
  }
  const markerEnd = marker.index + marker[0].length;
  const lineEnd = text.indexOf('\n', markerEnd);
  const hasOwnLine = lineEnd !== -1 && lineEnd < start;
  const at = hasOwnLine ? lineEnd + 1 : markerEnd;
  return { start: at, end: at, text: hasOwnLine ? line : lineBreak + line };
}
