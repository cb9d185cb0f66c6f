/** The diagram of the relationships around one table, to look at, to move by mouse and keyboard, and to go from table to table. All that it shows is
 *  also in the text beside it. Not here: the positions (model-layout.js). */
import { useEffect, useMemo, useRef, useState } from 'react';
import { boundsOf, curveOf, layoutOf, NODE } from './model-layout.js';

const LEAST_SCALE = 0.3;
/** The least scale at first, so that names can be read. What does not fit is reached by moving. */
const LEAST_FIRST_SCALE = 0.75;
const MOST_SCALE = 2;
const LEAST_HEIGHT = 220;
const MOST_HEIGHT = 480;
const STEP = 60;
const MOST_CHARACTERS = 22;

export function Diagram({ center, index, addressOf, onOpen }) {
  const [expanded, setExpanded] = useState(() => new Set());
  const { nodes, edges, hidden } = useMemo(
    () => layoutOf(center, expanded, index.edgesOf),
    [center, expanded, index],
  );
  const frame = useRef(null);
  const [view, setView] = useView(frame, nodes);
  const expand = (key) => setExpanded(new Set([...expanded, key]));
  return (
    <section className="diagram" aria-label="Diagram">
      {/* biome-ignore lint/a11y/useSemanticElements: a part of a drawing has no other element */}
      <svg
        ref={frame}
        height={Math.min(Math.max(boundsOf(nodes).height, LEAST_HEIGHT), MOST_HEIGHT)}
        role="group"
        aria-label={`Relationships of ${index.byKey.get(center).name}. Arrow keys move, plus and minus zoom, 0 shows everything.`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard moves the diagram
        tabIndex={0}
        onKeyDown={(event) => event.target === frame.current && moveByKey(event, setView)}
        {...dragging(view, setView)}
      >
        <Marks />
        <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
          {edges.map((edge) => (
            <Edge key={edge.id} edge={edge} />
          ))}
          {[...nodes.values()].map((node) => (
            <Node
              key={node.key}
              node={node}
              object={index.byKey.get(node.key)}
              isCenter={node.key === center}
              state={index.stateOf(node.key)}
              more={node.key === center || expanded.has(node.key) ? 0 : hidden.get(node.key)}
              onExpand={() => expand(node.key)}
              {...{ addressOf, onOpen }}
            />
          ))}
        </g>
      </svg>
      <div className="tools">
        <button type="button" aria-label="Zoom in" onClick={() => setView(zoomed(1.25))}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => setView(zoomed(0.8))}>
          −
        </button>
        <button type="button" onClick={() => setView('fit')}>
          Fit
        </button>
      </div>
      {hidden.get(center) > 0 && (
        <p className="faint">
          {hidden.get(center)} more related objects are in the list of relationships below.
        </p>
      )}
    </section>
  );
}

function Edge({ edge }) {
  const { path, x, y } = curveOf(edge);
  const names = edge.names.join(' / ');
  return (
    <g className="edge">
      <path
        d={path}
        markerStart={`url(#${edge.isLeftMany ? 'many' : 'one'})`}
        markerEnd={`url(#${edge.isRightMany ? 'many' : 'one'})`}
      />
      <text x={x} y={y} dy="0.35em">
        <title>{names}</title>
        {shortened(names, MOST_CHARACTERS - 2)}
      </text>
    </g>
  );
}

/** The ends of edges: a crow's foot at many rows, a line at one. */
function Marks() {
  return (
    <defs>
      <marker
        id="many"
        viewBox="0 0 12 12"
        refX="12"
        refY="6"
        markerWidth="12"
        markerHeight="12"
        orient="auto-start-reverse"
      >
        <path d="M12,1 L2,6 L12,11 M2,6 L12,6" />
      </marker>
      <marker
        id="one"
        viewBox="0 0 12 12"
        refX="12"
        refY="6"
        markerWidth="12"
        markerHeight="12"
        orient="auto-start-reverse"
      >
        <path d="M6,1 L6,11 M2,6 L12,6" />
      </marker>
    </defs>
  );
}

function Node({ node, object, isCenter, state, more, onExpand, addressOf, onOpen }) {
  const [left, top] = [node.x - NODE.width / 2, node.y - NODE.height / 2];
  const detail = [object.type, object.columns && `${object.columns} columns`, state];
  const kinds = ['node', isCenter && 'center', state && 'bad', object.kind].filter(Boolean);
  return (
    <g className={kinds.join(' ')}>
      <a
        href={addressOf(node.key)}
        onClick={(event) => onOpen(event, node.key)}
        aria-current={isCenter || undefined}
      >
        <title>{object.name}</title>
        <rect x={left} y={top} width={NODE.width} height={NODE.height} rx="7" />
        <text x={left + 12} y={node.y - 4}>
          {shortened(object.name, MOST_CHARACTERS)}
        </text>
        <text className="detail" x={left + 12} y={node.y + 13}>
          {detail.filter(Boolean).join(', ') || object.kind.replaceAll('_', ' ')}
        </text>
      </a>
      {more > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: a drawing has no button element
        <g
          className="more"
          role="button"
          tabIndex={0}
          aria-label={`Show ${more} more related to ${object.name}`}
          onClick={onExpand}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' && event.key !== ' ') return;
            event.preventDefault();
            onExpand();
          }}
        >
          <rect x={left + NODE.width - 40} y={top + 9} width="32" height="26" rx="13" />
          <text x={left + NODE.width - 24} y={node.y} dy="0.35em">
            +{more}
          </text>
        </g>
      )}
    </g>
  );
}

function shortened(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Returns where the diagram is and how large, and what changes it: a function, or `fit`. Everything is shown when another table is in the middle
 *  or the window changes. */
function useView(frame, nodes) {
  const [view, setView] = useState({ x: 0, y: 0, scale: 1 });
  const change = (next) =>
    setView((current) =>
      next === 'fit' ? fitted(frame.current, nodes, LEAST_SCALE) : next(current, sizeOf(frame.current)),
    );
  useEffect(() => {
    const showAll = () => setView(fitted(frame.current, nodes, LEAST_FIRST_SCALE));
    showAll();
    const observer = new ResizeObserver(showAll);
    observer.observe(frame.current);
    return () => observer.disconnect();
  }, [frame, nodes]);
  useEffect(() => {
    const element = frame.current;
    // A wheel without Ctrl scrolls the page, as everywhere else.
    const turn = (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      setView((current) =>
        zoomed(Math.exp(-event.deltaY / 300), { x: event.clientX - left, y: event.clientY - top })(current),
      );
    };
    element.addEventListener('wheel', turn, { passive: false });
    return () => element.removeEventListener('wheel', turn);
  }, [frame]);
  return [view, change];
}

function sizeOf({ clientWidth, clientHeight }) {
  return { width: clientWidth, height: clientHeight };
}

/** Returns the view that shows all nodes; the middle one of them where not all are large enough. */
function fitted(element, nodes, leastScale) {
  const { width, height } = sizeOf(element);
  const bounds = boundsOf(nodes);
  const whole = Math.min(width / bounds.width, height / bounds.height, 1);
  const scale = Math.max(whole, leastScale);
  const middle =
    whole < scale ? { x: 0, y: 0 } : { x: bounds.left + bounds.width / 2, y: bounds.top + bounds.height / 2 };
  return { x: width / 2 - middle.x * scale, y: height / 2 - middle.y * scale, scale };
}

/** Returns a change of the view that keeps a point where it is: by default the middle. */
function zoomed(factor, at) {
  return (view, size) => {
    const { x, y } = at ?? { x: size.width / 2, y: size.height / 2 };
    const scale = Math.min(Math.max(view.scale * factor, LEAST_SCALE), MOST_SCALE);
    const ratio = scale / view.scale;
    return { scale, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio };
  };
}

const moved = (x, y) => (view) => ({ ...view, x: view.x + x, y: view.y + y });

const KEYS = {
  ArrowLeft: moved(STEP, 0),
  ArrowRight: moved(-STEP, 0),
  ArrowUp: moved(0, STEP),
  ArrowDown: moved(0, -STEP),
  '+': zoomed(1.25),
  '=': zoomed(1.25),
  '-': zoomed(0.8),
  0: 'fit',
};

function moveByKey(event, setView) {
  const change = KEYS[event.key];
  if (!change || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  setView(change);
}

/** Returns the handlers that move the diagram with the pointer. A touch that moves up or down scrolls the page. */
function dragging(view, setView) {
  const start = (event) => {
    if (event.button !== 0 || event.target.closest('a, .more')) return;
    const element = event.currentTarget;
    const [x, y] = [event.clientX - view.x, event.clientY - view.y];
    const move = ({ clientX, clientY }) =>
      setView((current) => ({ ...current, x: clientX - x, y: clientY - y }));
    const end = () => {
      element.removeEventListener('pointermove', move);
      element.removeEventListener('pointerup', end);
      element.removeEventListener('pointercancel', end);
    };
    element.setPointerCapture(event.pointerId);
    element.addEventListener('pointermove', move);
    element.addEventListener('pointerup', end);
    element.addEventListener('pointercancel', end);
  };
  return { onPointerDown: start };
}
