/** One sentence for the message of a condition, from a clause that the operator, an engine or a database wrote.
 *  In: any text. Out: one line that begins with a capital letter, a digit, a quoted text or the path of a field, has no sentence inside, and
 *  ends with one full stop; at most MOST_SENTENCE_CHARACTERS. A sentence stays as it is.
 *  Pure. Not here: the clause (verdicts.ts, and what calls it). */

/** The most UTF-16 units of a sentence: the API server accepts no longer note of an Event, which repeats it. */
export const MOST_SENTENCE_CHARACTERS = 1024;

/** The characters before the sentence in the note of an Event. */
const PREFIX_CHARACTERS = 'No progress. '.length;

/** Returns the sentence. It ends with `link`, which is never cut, and which a sentence of an earlier pass may have already. */
export function sentence(text: string, link?: string): string {
  // Joined last: quotes and a cut change what is inside of quotes.
  const end = link === undefined ? '' : `; see ${link}`;
  const whole = withoutStop(oneLine(text));
  const line = end !== '' && whole.endsWith(end) ? withoutStop(whole.slice(0, -end.length)) : whole;
  const most = MOST_SENTENCE_CHARACTERS - 1 - (link === undefined ? 0 : end.length + PREFIX_CHARACTERS);
  return `${joined(shortened(begun(line === '' ? 'no message' : line), most))}${end}.`;
}

function withoutStop(line: string): string {
  return line.replace(/[\s.;:,!?]+$/, '');
}

/** Characters that a terminal or `kubectl get` would act on or that end a line. */
const CONTROLS = /[\p{Cc}\u2028\u2029]+/gu;

function oneLine(text: string): string {
  return text.toWellFormed().replace(CONTROLS, ' ').replace(/\s+/g, ' ').trim();
}

/** A text in double quotes, which is somebody's and stays as it is, or the end of a sentence before another. */
const QUOTED_OR_END = /"(?:[^"\\]|\\.)*"|[.!?]+ (?=["'`(]?\p{Lu})/gu;

/** Returns several sentences as one with semicolons. */
function joined(line: string): string {
  return line.replace(QUOTED_OR_END, (found) => (found.startsWith('"') ? found : '; '));
}

/** Returns the line with a beginning that stands for itself: a word gets a capital letter, a name or an address gets quotes. */
function begun(line: string): string {
  if (/^[\p{Lu}\d"'`(]/u.test(line) || /^(spec|metadata)\b/.test(line)) return line;
  if (/^\p{Ll}[\p{Ll}'-]*(?=[ ,;]|: |$)/u.test(line)) return line[0]!.toUpperCase() + line.slice(1);
  return line.replace(/^[^\s]*[^\s,:;]|^[\s\S]*/u, (name) => `"${name.replaceAll('"', "'")}"`);
}

function shortened(line: string, most: number): string {
  return line.length > most ? `${line.slice(0, most - 1).toWellFormed()}…` : line;
}
