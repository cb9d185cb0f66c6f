/** Reads the parts of a guide (docs/guides) that can be executed, in order: SQL, custom resources, and GraphQL requests with the response
 *  that follows them. Not here: executing them (../end-to-end/guides.test.ts).
 *  A request names its session in the line that opens the block: ```graphql role=member X-Engine-User-Id=1 */
import { readFileSync } from 'node:fs';

type Text<K extends string> = { readonly kind: K; readonly line: number; readonly text: string };
export type GuideRequest = {
  readonly kind: 'request';
  readonly line: number;
  readonly text: string;
  readonly role: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON block that follows, without other blocks between. Null: any response without errors. */
  readonly response: unknown;
};
export type GuidePart = Text<'sql'> | Text<'resources'> | GuideRequest;

type Block = {
  readonly line: number;
  readonly language: string;
  readonly words: readonly string[];
  readonly text: string;
};

/** Returns the parts of the guide. Raises SyntaxError when the response of a request is not JSON. */
export function guideParts(file: string): readonly GuidePart[] {
  const blocks = blocksOf(readFileSync(file, 'utf8'));
  return blocks.flatMap((block, i): readonly GuidePart[] => {
    const { line, language, text } = block;
    if (language === 'sql') return [{ line, kind: 'sql', text }];
    if (language === 'yaml' && text.includes('apiVersion: pergola.dev/')) {
      return [{ line, kind: 'resources', text }];
    }
    if (language !== 'graphql' || block.words.length === 0) return [];
    return [requestOf(block, blocks[i + 1])];
  });
}

function requestOf({ line, text, words }: Block, next: Block | undefined): GuidePart {
  const pairs = words.map((word) => word.split('=') as [string, string]);
  const { role = 'admin', ...headers } = Object.fromEntries(pairs);
  const response = next?.language === 'json' ? (JSON.parse(next.text) as unknown) : null;
  return { line, kind: 'request', text, role, headers, response };
}

/** Returns the fenced blocks of a Markdown text. */
export function blocksOf(text: string): readonly Block[] {
  const lines = text.split('\n');
  const blocks: Block[] = [];
  for (let i = 0; i < lines.length; i++) {
    const opening = /^\s*```(\w+)(.*)$/.exec(lines[i]!);
    if (!opening) continue;
    const end = lines.findIndex((line, at) => at > i && line.trim() === '```');
    const words = opening[2]!.trim().split(/\s+/).filter(Boolean);
    blocks.push({ line: i + 1, language: opening[1]!, words, text: lines.slice(i + 1, end).join('\n') });
    i = end;
  }
  return blocks;
}
