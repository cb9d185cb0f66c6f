/** A small chart over time: a line for each series, with its last and its largest value as text, which screen readers get as well.
 *  In: `series`, each `{name, values}` with a number or null for each time, and `times` in ISO 8601. Not here: what is shown (activity-hour.jsx). */
const WIDTH = 300;
const HEIGHT = 72;

export function Chart({ title, unit, times, series, most }) {
  const largest = Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? 0)), 0);
  const top = Math.max(most ?? 0, largest) || 1;
  const x = (i) => (times.length < 2 ? WIDTH : (i / (times.length - 1)) * WIDTH);
  const y = (value) => HEIGHT - 2 - (value / top) * (HEIGHT - 6);
  return (
    <figure className="chart">
      <figcaption>
        {title} <span className="faint">{unit}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <line className="axis" x1="0" x2={WIDTH} y1={HEIGHT - 1} y2={HEIGHT - 1} />
        {series.map(({ name, values }, i) => (
          <path key={name} className={`series-${i % 4}`} d={pathOf(values, x, y)} />
        ))}
      </svg>
      <ul className="legend">
        {series.map(({ name, values }, i) => (
          <li key={name}>
            <span className={`mark series-${i % 4}`} aria-hidden="true" />
            {name}: <strong>{printed(values.at(-1))}</strong>
            <span className="faint"> now, {mostText(values, times)}</span>
          </li>
        ))}
        {series.length === 0 && <li className="faint">none in the last hour</li>}
      </ul>
    </figure>
  );
}

/** Returns the path of a line, with a gap where there is no value. A single value is a short line. */
function pathOf(values, x, y) {
  let isDrawing = false;
  const steps = values.map((value, i) => {
    if (value === null) {
      isDrawing = false;
      return '';
    }
    const start = isDrawing ? 'L' : `M${Math.max(x(i) - 3, 0).toFixed(1)} ${y(value).toFixed(1)}L`;
    isDrawing = true;
    return `${start}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
  });
  return steps.join('');
}

function mostText(values, times) {
  const known = values.map((value) => value ?? -1);
  const most = Math.max(...known);
  if (most <= 0) return 'none in the last hour';
  return `at most ${printed(most)} at ${timeOf(times[known.indexOf(most)])}`;
}

/** Returns a number with as many digits as its size needs; `–` for none. */
export function printed(value) {
  if (value === null || value === undefined) return '–';
  if (value !== 0 && Math.abs(value) < 0.1) return value.toFixed(2);
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}

/** Returns the time of the day of a time in ISO 8601, as the user's clock has it. */
export function timeOf(iso) {
  return new Date(iso).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}

/** Returns the day and the time. */
export function dayAndTime(iso) {
  return new Date(iso).toLocaleString([], { dateStyle: 'short', timeStyle: 'medium' });
}
