/** The positions of the tables in a diagram: one table in the middle, what it leads to on its right, what leads to it on its left, and further
 *  tables beyond those that are expanded.
 *  Pure. In: the key in the middle, the keys that are expanded, and the relationships of a key. Not here: drawing (model-diagram.jsx). */

export const NODE = { width: 190, height: 44 };
const COLUMN_WIDTH = 330;
const ROW_HEIGHT = 64;
/** The most tables that are shown beside one. Others are in the list. */
export const MOST_NEIGHBOURS = 16;

/** Returns `{nodes, edges, hidden}`: nodes with their middle, edges between them, and how many related tables of a node are not shown. */
export function layoutOf(center, expanded, edgesOf) {
  const columns = columnsOf(center, expanded, edgesOf);
  const nodes = placed(columns, edgesOf);
  const edges = edgesFrom([center, ...expanded], nodes, edgesOf);
  const hidden = new Map(
    [...nodes.keys()].map((key) => [
      key,
      neighboursOf(key, edgesOf).filter((other) => !nodes.has(other.key)).length,
    ]),
  );
  return { nodes, edges, hidden };
}

/** Returns the number of the column of each key: 0 in the middle, negative on the left. */
function columnsOf(center, expanded, edgesOf) {
  const columns = new Map([[center, 0]]);
  // A key that is found later may be expanded, too.
  for (const [key, column] of columns) {
    if (key !== center && !expanded.has(key)) continue;
    const found = neighboursOf(key, edgesOf).filter((other) => !columns.has(other.key));
    for (const other of found.slice(0, MOST_NEIGHBOURS)) {
      const side = column === 0 ? (other.isTarget ? 1 : -1) : Math.sign(column);
      columns.set(other.key, column + side);
    }
  }
  return columns;
}

/** Returns the objects that relationships connect with one, each once. `isTarget`: a row of it leads to one row there. */
function neighboursOf(key, edgesOf) {
  const found = new Map();
  for (const { from, to, type } of edgesOf(key)) {
    const other = from === key ? to : from;
    if (other === key) continue;
    const isTarget = found.get(other) || (from === key ? type !== 'array' : type === 'array');
    found.set(other, isTarget);
  }
  return [...found].map(([other, isTarget]) => ({ key: other, isTarget }));
}

/** Returns the middle of each node. Columns are placed from the middle outwards, and each is sorted by the height of its related tables. */
function placed(columns, edgesOf) {
  const nodes = new Map();
  const numbers = [...new Set(columns.values())].sort((a, b) => Math.abs(a) - Math.abs(b));
  for (const number of numbers) {
    const keys = [...columns].flatMap(([key, column]) => (column === number ? [key] : []));
    const heights = new Map(keys.map((key) => [key, heightNear(key, nodes, edgesOf)]));
    keys.sort((a, b) => heights.get(a) - heights.get(b));
    keys.forEach((key, i) => {
      nodes.set(key, { key, x: number * COLUMN_WIDTH, y: (i - (keys.length - 1) / 2) * ROW_HEIGHT });
    });
  }
  return nodes;
}

function heightNear(key, nodes, edgesOf) {
  const related = neighboursOf(key, edgesOf).flatMap((other) => nodes.get(other.key)?.y ?? []);
  return related.length === 0 ? 0 : related.reduce((sum, y) => sum + y, 0) / related.length;
}

/** Returns one edge for each pair of related nodes, with all relationships between them, from the left to the right node. Edges between two
 *  nodes that are not open are left out: they belong to other neighbourhoods. */
function edgesFrom(open, nodes, edgesOf) {
  const pairs = new Map();
  for (const key of open) {
    for (const edge of edgesOf(key)) {
      if (!nodes.has(edge.from) || !nodes.has(edge.to)) continue;
      const [a, b] = [nodes.get(edge.from), nodes.get(edge.to)];
      const isForward = a.x < b.x || (a.x === b.x && a.y <= b.y);
      const [left, right] = isForward ? [a, b] : [b, a];
      const id = `${left.key}\n${right.key}`;
      const pair = pairs.get(id) ?? { id, left, right, relationships: new Map() };
      pair.relationships.set(edge.key, edge);
      pairs.set(id, pair);
    }
  }
  return [...pairs.values()].map(({ relationships, ...pair }) => {
    const all = [...relationships.values()];
    const isMany = (node) => all.some(({ to, type }) => to === node.key && type === 'array');
    return {
      ...pair,
      names: all.map(({ name }) => name),
      isLeftMany: isMany(pair.left),
      isRightMany: isMany(pair.right),
    };
  });
}

/** Returns the rectangle around the nodes. */
export function boundsOf(nodes) {
  const all = [...nodes.values()];
  const margin = 36;
  const [xs, ys] = [all.map(({ x }) => x), all.map(({ y }) => y)];
  const left = Math.min(...xs) - NODE.width / 2 - margin;
  const top = Math.min(...ys) - NODE.height / 2 - margin;
  return {
    left,
    top,
    width: Math.max(...xs) + NODE.width / 2 + margin - left,
    height: Math.max(...ys) + NODE.height / 2 + margin - top,
  };
}

/** Returns the path of an edge, and the position of its text. Nodes of one column are connected around their right side. */
export function curveOf({ left, right }) {
  const half = NODE.width / 2;
  if (left.key === right.key) {
    const { x, y } = left;
    const top = y - NODE.height / 2;
    return {
      path: `M${x - 30},${top} C${x - 50},${top - 34} ${x + 50},${top - 34} ${x + 30},${top}`,
      x,
      y: top - 26,
    };
  }
  const start = left.x + half;
  if (left.x === right.x) {
    const out = start + 60;
    return {
      path: `M${start},${left.y} C${out},${left.y} ${out},${right.y} ${start},${right.y}`,
      x: out - 10,
      y: (left.y + right.y) / 2,
    };
  }
  const end = right.x - half;
  const middle = (start + end) / 2;
  return {
    path: `M${start},${left.y} C${middle},${left.y} ${middle},${right.y} ${end},${right.y}`,
    x: middle,
    y: (left.y + right.y) / 2,
  };
}
