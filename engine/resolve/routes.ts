/** The routes of REST endpoints: URL templates as a tree of segments. In: templates without a leading slash, `author/:id`. Out: the
 *  endpoints that match a path, with the values of their variables, and the endpoints whose templates overlap. The time of both
 *  depends on the segments of a path, not on the number of endpoints. Reference: docs/reference/behaviour/endpoints.md. */
import { fail } from '../errors/engine-error.ts';
import type { RestMethod } from '../metadata/schema/collection.ts';

type Node = {
  readonly literals: Map<string, Node>;
  variable: Node | null;
  readonly endpoints: ResolvedEndpoint[];
};

export type Match = {
  readonly endpoint: ResolvedEndpoint;
  readonly values: Readonly<Record<string, string>>;
};

/** Parses a URL template. Raises `invalidConfiguration`. */
export function parseTemplate(url: string): readonly Segment[] {
  const segments = url.split('/').map((text): Segment => {
    return text.startsWith(':') ? { kind: 'variable', name: text.slice(1) } : { kind: 'literal', text };
  });
  if (segments.some((segment) => (segment.kind === 'variable' ? segment.name : segment.text) === '')) {
    fail('invalidConfiguration', {
      text: `Empty segments or unnamed variables are not allowed: ${url}`,
    });
  }
  const names = segments.flatMap((segment) => (segment.kind === 'variable' ? [segment.name] : []));
  if (new Set(names).size < names.length) {
    fail('invalidConfiguration', { text: `Duplicate variables found in endpoint path: ${url}` });
  }
  return segments;
}

export class Routes {
  readonly #root = newNode();
  readonly #endpoints: ResolvedEndpoint[] = [];

  /** Endpoints in the order in which they were added. */
  get endpoints(): readonly ResolvedEndpoint[] {
    return this.#endpoints;
  }

  add(endpoint: ResolvedEndpoint): void {
    this.#endpoints.push(endpoint);
    let node = this.#root;
    for (const segment of endpoint.segments) node = childAt(node, segment);
    node.endpoints.push(endpoint);
  }

  /** Returns the endpoints that share some request with an endpoint of these segments and methods. */
  rivals(segments: readonly Segment[], methods: readonly RestMethod[]): readonly ResolvedEndpoint[] {
    let nodes = [this.#root];
    for (const segment of segments) nodes = nodes.flatMap((node) => overlapping(node, segment));
    return nodes
      .flatMap(({ endpoints }) => endpoints)
      .filter((endpoint) => endpoint.methods.some((method) => methods.includes(method)));
  }

  /** Returns the endpoints that match a path, whatever their methods. */
  match(path: readonly string[]): readonly Match[] {
    let nodes = [this.#root];
    for (const text of path) nodes = nodes.flatMap((node) => reached(node, text));
    return nodes
      .flatMap(({ endpoints }) => endpoints)
      .map((endpoint) => ({ endpoint, values: valuesOf(endpoint, path) }));
  }
}

function newNode(): Node {
  return { literals: new Map(), variable: null, endpoints: [] };
}

function childAt(node: Node, segment: Segment): Node {
  if (segment.kind === 'variable') {
    node.variable ??= newNode();
    return node.variable;
  }
  const known = node.literals.get(segment.text) ?? newNode();
  node.literals.set(segment.text, known);
  return known;
}

function reached({ literals, variable }: Node, text: string): readonly Node[] {
  const literal = literals.get(text);
  return [...(literal ? [literal] : []), ...(variable && text !== '' ? [variable] : [])];
}

function overlapping(node: Node, segment: Segment): readonly Node[] {
  if (segment.kind === 'literal') return reached(node, segment.text);
  return [...node.literals.values(), ...(node.variable ? [node.variable] : [])];
}

function valuesOf({ segments }: ResolvedEndpoint, path: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    segments.flatMap((segment, i) => (segment.kind === 'variable' ? [[segment.name, path[i]!]] : [])),
  );
}

/** A stored query or mutation with a URL. */
export type ResolvedEndpoint = {
  readonly name: string;
  /** The URL template of the metadata: `author/:id`. */
  readonly url: string;
  readonly methods: readonly RestMethod[];
  readonly comment: string | null;
  readonly segments: readonly Segment[];
  readonly query: string;
  /** How long clients may cache responses to GET; null when the document does not say. */
  readonly maxAgeSeconds: number | null;
};

/** A part of a URL template between slashes. */
export type Segment =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string };
