/** The positions of YAML: a tree of nodes with offsets into the text, for editing values without touching the rest and for line numbers.
 *  Pure. Not here: the values (js-yaml loads them), edits (edit.ts). */
import { COLLECTION_STYLE, EVENT_ID, type Event, getScalarValue, parseEvents, SCALAR_STYLE } from 'js-yaml';

type Span = {
  readonly start: number;
  /** The offset after the last character, without line breaks that end a block. */
  readonly end: number;
};

export type YamlEntry = { readonly key: string; readonly keySpan: Span; readonly value: YamlNode };

export type YamlNode = Span &
  (
    | { readonly kind: 'scalar' | 'alias' }
    | { readonly kind: 'mapping'; readonly isFlow: boolean; readonly entries: readonly YamlEntry[] }
    | { readonly kind: 'sequence'; readonly isFlow: boolean; readonly items: readonly YamlNode[] }
  );

export type YamlDocument = {
  /** Undefined for an empty document. */
  readonly root: YamlNode | undefined;
  /** True when the document has anchors, aliases, tags or merge keys: its nodes are not the values one to one. */
  readonly isIndirect: boolean;
};

/** Returns the documents of a text in the order in which js-yaml loads them. Throws YAMLException. */
export function parseTree(text: string): readonly YamlDocument[] {
  return new TreeReader(text).documents();
}

/** Returns the line of an offset. The first line is 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let i = text.indexOf('\n'); i !== -1 && i < offset; i = text.indexOf('\n', i + 1)) line++;
  return line;
}

/** Returns the offset of the value at a path, or of its deepest parent that exists. A key is preferred to its value. */
export function offsetOf(root: YamlNode, path: readonly (string | number)[]): number {
  let node = root;
  let { start } = root;
  for (const step of path) {
    if (node.kind === 'mapping') {
      const entry = node.entries.find(({ key }) => key === String(step));
      if (!entry) return start;
      start = entry.keySpan.start;
      node = entry.value;
    } else if (node.kind === 'sequence') {
      const item = node.items[Number(step)];
      if (!item) return start;
      start = item.start;
      node = item;
    } else return start;
  }
  return start;
}

class TreeReader {
  readonly #text: string;
  readonly #events: readonly Event[];
  #next = 0;
  #isIndirect = false;
  /** The end of the last node: the position of a value that is absent. */
  #lastEnd = 0;

  constructor(text: string) {
    this.#text = text;
    this.#events = parseEvents(text, {});
  }

  documents(): readonly YamlDocument[] {
    const documents: YamlDocument[] = [];
    while (this.#next < this.#events.length) {
      this.#take();
      this.#isIndirect = false;
      const root = this.#isAtEnd() ? undefined : this.#node();
      this.#take();
      documents.push({ root, isIndirect: this.#isIndirect });
    }
    return documents;
  }

  #take(): Event {
    return this.#events[this.#next++]!;
  }

  #isAtEnd(): boolean {
    return this.#events[this.#next]?.type === EVENT_ID.POP;
  }

  #node(): YamlNode {
    const event = this.#take();
    if ('tagStart' in event && (event.tagStart >= 0 || event.anchorStart >= 0)) this.#isIndirect = true;
    const node = this.#nodeOf(event);
    this.#lastEnd = node.end;
    return node;
  }

  #nodeOf(event: Event): YamlNode {
    switch (event.type) {
      case EVENT_ID.MAPPING: {
        const entries: YamlEntry[] = [];
        while (!this.#isAtEnd()) entries.push(this.#entry());
        this.#take();
        const isFlow = event.style === COLLECTION_STYLE.FLOW;
        const end = this.#collectionEnd(event.start, isFlow, '}');
        return { kind: 'mapping', isFlow, entries, start: event.start, end };
      }
      case EVENT_ID.SEQUENCE: {
        const items: YamlNode[] = [];
        while (!this.#isAtEnd()) items.push(this.#node());
        this.#take();
        const isFlow = event.style === COLLECTION_STYLE.FLOW;
        const end = this.#collectionEnd(event.start, isFlow, ']');
        return { kind: 'sequence', isFlow, items, start: event.start, end };
      }
      case EVENT_ID.SCALAR:
        return this.#scalar(event);
      case EVENT_ID.ALIAS:
        this.#isIndirect = true;
        return { kind: 'alias', start: event.anchorStart, end: event.anchorEnd };
      default:
        throw new Error('a document or the end of a node where a node is expected');
    }
  }

  #entry(): YamlEntry {
    const event = this.#events[this.#next];
    const keySpan = this.#node();
    const key = event?.type === EVENT_ID.SCALAR ? getScalarValue(this.#text, event) : '';
    if (key === '<<') this.#isIndirect = true;
    return { key, keySpan, value: this.#node() };
  }

  #scalar(event: Extract<Event, { type: typeof EVENT_ID.SCALAR }>): YamlNode {
    const { valueStart, valueEnd, style } = event;
    if (valueStart < 0) return { kind: 'scalar', start: this.#lastEnd, end: this.#lastEnd };
    if (style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED) {
      return { kind: 'scalar', start: valueStart - 1, end: valueEnd + 1 };
    }
    const { length } = this.#text.slice(valueStart, valueEnd).trimEnd();
    return { kind: 'scalar', start: valueStart, end: valueStart + length };
  }

  #collectionEnd(start: number, isFlow: boolean, bracket: string): number {
    const from = Math.max(start, this.#lastEnd);
    if (!isFlow) return from;
    // Between the last value and the bracket there are spaces, a comma and comments.
    const rest = this.#text.slice(from === start ? start + 1 : from);
    const [skipped = ''] = /^(?:[\s,:?]|#[^\n]*\n)*/.exec(rest) ?? [];
    const end = (from === start ? start + 1 : from) + skipped.length;
    return this.#text[end] === bracket ? end + 1 : end;
  }
}
