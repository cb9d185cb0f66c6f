/** Replaces the generated part of a page that is written by hand. In: its text, the name of the part. Pure. */

/** Returns the text with the part between its two comments. Throws when it has no such place. */
export function between(text: string, name: string, part: string): string {
  const [begin, end] = [`<!-- generated: ${name} -->`, '<!-- end of generated -->'];
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  if (from < 0 || to < from) throw new Error(`the page has no place for the part ${name}`);
  const indent = /[ ]*$/.exec(text.slice(0, from))![0];
  return `${text.slice(0, from + begin.length)}\n\n${part}\n\n${indent}${text.slice(to)}`;
}
