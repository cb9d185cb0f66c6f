/** The difference of two texts, line by line. Pure. In: the texts. Out: lines, each `{kind, text}` with kind `same`, `removed` or `added`, where long parts
 *  without a difference are left out (`kind: 'skipped'`). Reference: the longest common subsequence, by dynamic programming. */

/** The lines without a difference that are kept beside one. */
const CONTEXT = 3;
/** Above this number of compared pairs of lines, all lines are removed and added. */
const MOST_PAIRS = 1_000_000;

export function differences(before, after) {
  const [from, to] = [before, after].map((text) => (text === '' ? [] : text.split('\n')));
  let start = 0;
  while (start < Math.min(from.length, to.length) && from[start] === to[start]) start++;
  let end = 0;
  const most = Math.min(from.length, to.length) - start;
  while (end < most && from.at(-1 - end) === to.at(-1 - end)) end++;
  const lines = [
    ...from.slice(0, start).map(same),
    ...middle(from.slice(start, from.length - end), to.slice(start, to.length - end)),
    ...(end === 0 ? [] : from.slice(-end)).map(same),
  ];
  return withoutLongParts(lines);
}

function same(text) {
  return { kind: 'same', text };
}

function middle(from, to) {
  const removed = (text) => ({ kind: 'removed', text });
  const added = (text) => ({ kind: 'added', text });
  if (from.length * to.length > MOST_PAIRS) return [...from.map(removed), ...to.map(added)];
  const width = to.length + 1;
  // The length of the longest common subsequence of what begins at each pair.
  const lengths = new Uint32Array((from.length + 1) * width);
  for (let i = from.length - 1; i >= 0; i--) {
    for (let j = to.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        from[i] === to[j]
          ? lengths[(i + 1) * width + j + 1] + 1
          : Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
    }
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < from.length || j < to.length) {
    if (i < from.length && j < to.length && from[i] === to[j]) {
      lines.push(same(from[i++]));
      j++;
    } else if (
      j === to.length ||
      (i < from.length && lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])
    ) {
      lines.push(removed(from[i++]));
    } else lines.push(added(to[j++]));
  }
  return lines;
}

function withoutLongParts(lines) {
  const isNear = lines.map((_, i) =>
    lines.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some(({ kind }) => kind !== 'same'),
  );
  return lines.flatMap((line, i) => {
    if (isNear[i]) return [line];
    return i === 0 || isNear[i - 1] ? [{ kind: 'skipped', text: '…' }] : [];
  });
}
