/** The diagrams of the guides: boxes in columns and rows, arrows between them, as SVG. A diagram is an entry of DIAGRAMS; `npm run generate` writes
 *  docs/images/<name>.svg. Not here: pictures of the console (docs/testing), and the diagram of its page Model (console/page/model-layout.js). */

type Box = {
  /** Column and row of the box, from 0. */
  readonly at: readonly [column: number, row: number];
  readonly title: string;
  /** A second, smaller line. */
  readonly note?: string;
  /** True for a part of Pergola, in contrast to what stands around it. */
  readonly isOurs?: boolean;
};

type Diagram = {
  /** The words for a reader who does not see the picture. */
  readonly title: string;
  readonly boxes: Readonly<Record<string, Box>>;
  /** Pairs of boxes in one column or one row, or in two columns that lie beside each other, and what the arrow says. */
  readonly arrows: readonly (readonly [from: string, to: string, label?: string])[];
};

export const DIAGRAMS: Readonly<Record<string, Diagram>> = {
  parts: {
    title:
      'Resources reach the metadata through the operator, people through the admin API; the engine answers clients by it.',
    boxes: {
      git: { at: [0, 0], title: 'Git, kubectl, Argo CD' },
      resources: { at: [1, 0], title: 'custom resources', note: 'Table, TablePermission …' },
      operator: { at: [2, 0], title: 'operator', note: 'one write for a pass', isOurs: true },
      people: { at: [0, 1], title: 'people' },
      admin: { at: [1, 1], title: 'console, admin API', isOurs: true },
      metadata: { at: [2, 1], title: 'metadata', note: 'one document', isOurs: true },
      clients: { at: [0, 2], title: 'clients' },
      graphql: { at: [1, 2], title: 'GraphQL, REST', note: 'as a role', isOurs: true },
      engine: { at: [2, 2], title: 'engine', isOurs: true },
      database: { at: [3, 2], title: 'your database' },
    },
    arrows: [
      ['git', 'resources'],
      ['resources', 'operator'],
      ['operator', 'metadata'],
      ['people', 'admin'],
      ['admin', 'metadata'],
      ['metadata', 'engine', 'what is served, and to whom'],
      ['clients', 'graphql'],
      ['graphql', 'engine'],
      ['engine', 'database', 'one SQL'],
    ],
  },
  pass: {
    title:
      'A pass: everything is read, what would be refused is left out, one write applies the rest, and each resource gets its status.',
    boxes: {
      read: { at: [0, 0], title: 'read', note: 'resources, ledger, metadata' },
      settle: { at: [1, 0], title: 'leave out', note: 'what would be refused' },
      write: { at: [2, 0], title: 'one write', note: 'all or nothing', isOurs: true },
      status: { at: [3, 0], title: 'status', note: 'Ready on each replica' },
      again: { at: [2, 1], title: 'begin again', note: 'with what others wrote' },
    },
    arrows: [
      ['read', 'settle'],
      ['settle', 'write'],
      ['write', 'status'],
      ['write', 'again', 'someone else wrote first'],
    ],
  },
  machines: {
    title:
      'Replicas of the engine share a pooler before the primary, read replicas take reads, and a Citus coordinator has workers.',
    boxes: {
      clients: { at: [0, 1], title: 'clients' },
      engines: { at: [1, 1], title: 'engine × 3', note: 'replicas of the chart', isOurs: true },
      replica: { at: [2, 0], title: 'read replica', note: 'readReplicas of a Source' },
      pooler: { at: [2, 1], title: 'pooler', note: 'in transaction mode' },
      coordinator: { at: [2, 2], title: 'Citus coordinator', note: 'a Source like any other' },
      primary: { at: [3, 1], title: 'primary' },
      workers: { at: [3, 2], title: 'workers', note: 'the rows, by tenant' },
    },
    arrows: [
      ['clients', 'engines'],
      ['engines', 'replica', 'reads'],
      ['engines', 'pooler'],
      ['engines', 'coordinator'],
      ['pooler', 'primary'],
      ['coordinator', 'workers'],
    ],
  },
};

const WIDTH = 190;
const HEIGHT = 54;
const ACROSS = WIDTH + 70;
const DOWN = HEIGHT + 46;
const MARGIN = 16;

// The picture has its own background, since a page that people switched to dark shows it unchanged.
const STYLE = `
  text { font: 14px system-ui, sans-serif; fill: #1f2933; text-anchor: middle }
  .note, .label { font-size: 11.5px; fill: #52606d }
  .beside { text-anchor: start }
  rect { fill: #fff; stroke: #9aa5b1; rx: 6 }
  .ours { fill: #e8f3ec; stroke: #2f6f4f }
  .page { fill: #f5f7fa; stroke: none }
  path { fill: none; stroke: #52606d; marker-end: url(#head) }`;

/** Returns the text of an SVG file. */
export function diagram({ title, boxes, arrows }: Diagram): string {
  const all = Object.values(boxes);
  const width = 2 * MARGIN + Math.max(...all.map(({ at }) => at[0])) * ACROSS + WIDTH;
  const height = 2 * MARGIN + Math.max(...all.map(({ at }) => at[1])) * DOWN + HEIGHT;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${title}</title>`,
    `<style>${STYLE}\n</style>`,
    '<marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">',
    '  <polygon points="0,0 8,4 0,8" fill="#52606d"/>',
    '</marker>',
    `<rect class="page" width="${width}" height="${height}"/>`,
    ...arrows.map(([from, to, label = '']) => arrow(boxes[from]!, boxes[to]!, label)),
    ...all.map(box),
    '</svg>\n',
  ].join('\n');
}

function box({ at, title, note = '', isOurs = false }: Box): string {
  const [x, y] = cornerOf(at);
  const center = x + WIDTH / 2;
  const lines = note
    ? `<text x="${center}" y="${y + 24}">${title}</text><text class="note" x="${center}" y="${y + 42}">${note}</text>`
    : `<text x="${center}" y="${y + 32}">${title}</text>`;
  return `<rect${isOurs ? ' class="ours"' : ''} x="${x}" y="${y}" width="${WIDTH}" height="${HEIGHT}"/>${lines}`;
}

/** An arrow within a column goes down; any other goes to the right, by way of the middle of the gap if the rows differ. */
function arrow(from: Box, to: Box, label: string): string {
  const [x1, y1] = cornerOf(from.at);
  const [x2, y2] = cornerOf(to.at);
  if (x1 === x2) {
    const [x, y] = [x1 + WIDTH / 2, (y1 + HEIGHT + y2) / 2];
    return `<path d="M${x} ${y1 + HEIGHT}V${y2}"/>${text('label beside', x + 8, y + 4, label)}`;
  }
  const [start, end] = [y1 + HEIGHT / 2, y2 + HEIGHT / 2];
  const middle = x2 - (ACROSS - WIDTH) / 2;
  const turn = start === end ? '' : `H${middle}V${end}`;
  return `<path d="M${x1 + WIDTH} ${start}${turn}H${x2}"/>${text('label', middle, end - 6, label)}`;
}

function text(style: string, x: number, y: number, words: string): string {
  return words && `<text class="${style}" x="${x}" y="${y}">${words}</text>`;
}

function cornerOf([column, row]: Box['at']): readonly [x: number, y: number] {
  return [MARGIN + column * ACROSS, MARGIN + row * DOWN];
}
