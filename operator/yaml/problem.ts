/** Says in plain words what is wrong with a YAML text. In: the exception of js-yaml. Out: line, column, and a message with what to do.
 *  Not here: reading YAML (tree.ts, ../folder/read-folder.ts). */
import type { YAMLException } from 'js-yaml';

export type YamlProblem = {
  /** The line of the problem; the first is 1. */
  readonly line: number;
  /** The problem, with its column where the parser names one. */
  readonly message: string;
};

/** The parser's reasons, and the same in the words of somebody who edits the file. The first match counts; other reasons are kept. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [
    /^bad indentation of a mapping entry/,
    'the line is not indented like the keys above it, or its value needs quotes because it contains ": " or begins with a special character',
  ],
  [/^bad indentation of a sequence entry/, 'the item is not indented like the items above it'],
  [
    /^deficient indentation/,
    'a bracket or quote above is not closed, or its value continues here and must be indented further than its key',
  ],
  [/^tab characters/, 'the line is indented with a tab; use spaces'],
  [/within a flow collection$/, 'a bracket [ or { is not closed'],
  [/within a double quoted scalar$/, 'a double quote is not closed'],
  [/within a single quoted scalar$/, 'a single quote is not closed'],
  [
    /^end of the stream or a document separator/,
    'the line does not belong to what is above it; correct its indentation, add the colon of a key, or begin a new document with ---',
  ],
  [/^duplicated mapping key/, 'the key is written twice; keep one of them'],
  [/^missed comma/, 'a comma is missing between two entries in brackets'],
  [/^expected the node content, but found ','/, 'there is a comma without a value before it'],
  [/^can not read a block mapping entry|^expected ':'/, 'the colon after a key is missing'],
  [
    /^object-based map does not support complex keys/,
    'a mapping or list is a key, as in {{ … }} without quotes; render a template first, as helm template does, or quote it',
  ],
  [/^unknown escape sequence/, 'a backslash in double quotes begins an unknown escape; use single quotes'],
];

export function yamlProblem({ reason, mark }: YAMLException): YamlProblem {
  const message = WORDS.find(([pattern]) => pattern.test(reason))?.[1] ?? reason;
  const column = mark === undefined || mark === null ? '' : ` at column ${mark.column + 1}`;
  return { line: (mark?.line ?? 0) + 1, message: `invalid YAML${column}: ${message}` };
}
