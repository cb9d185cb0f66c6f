/** A small chart over time: a line for each series, with its last and its largest value as text, which screen readers get as well.
 *  In: `series`, each `{name, values}` with a number or null for each of the `minutes`. Not here: what is shown (activity-hour.jsx). */
const WIDTH = 300;
const HEIGHT = 72;

export function Chart({ title, unit, minutes, series }) {
  const most = Math.max(...series.flatMap(({ values }) => values.map((value) => value ?? 0)), 0) || 1;
  const x = (i) => ((i / minutes.length) * WIDTH).toFixed(1);
  const y = (value) => (HEIGHT - 2 - (value / most) * (HEIGHT - 6)).toFixed(1);
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
      <div className="ends" aria-hidden="true">
        <span>{timeOf(startOf(minutes[0]))}</span>
        <span>{timeOf(minutes.at(-1).at)}</span>
      </div>
      <ul className="legend">
        {series.map(({ name, values }, i) => (
          <li key={name}>
            <span className={`mark series-${i % 4}`} aria-hidden="true" />
            {name}: <strong>{printed(values.at(-1))}</strong>
            <span className="faint"> now, {mostText(values, minutes)}</span>
          </li>
        ))}
        {series.length === 0 && <li className="faint">none in the last hour</li>}
      </ul>
    </figure>
  );
}

/** Returns the path of a line with a step for each minute, and a gap where there is no value. */
function pathOf(values, x, y) {
  return values
    .map((value, i) => {
      if (value === null) return '';
      const isDrawing = i > 0 && values[i - 1] !== null;
      return `${isDrawing ? 'L' : 'M'}${x(i)} ${y(value)}H${x(i + 1)}`;
    })
    .join('');
}

/** Returns when a minute began, in milliseconds since the epoch. */
export function startOf({ at, seconds }) {
  return Date.parse(at) - seconds * 1000;
}

function mostText(values, minutes) {
  const known = values.map((value) => value ?? -1);
  const most = Math.max(...known);
  if (most <= 0) return 'none in the last hour';
  return `at most ${printed(most)} at ${timeOf(minutes[known.indexOf(most)].at)}`;
}

/** Returns a number with as many digits as its size needs; `–` for none. */
export function printed(value) {
  if (value === null || value === undefined) return '–';
  if (value !== 0 && Math.abs(value) < 0.1) return value.toFixed(2);
  return value >= 100 || Number.isInteger(value) ? String(Math.round(value)) : value.toFixed(1);
}

/** Returns the time of the day, as the user's clock has it. */
export function timeOf(time) {
  return new Date(time).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}

// One format for all: a new one for each row takes most of the time of a long list.
const DAY_AND_TIME = new Intl.DateTimeFormat([], { dateStyle: 'short', timeStyle: 'medium' });

/** Returns the day and the time of the day; the text itself if it is no time. */
export function dayAndTime(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : DAY_AND_TIME.format(date);
}
