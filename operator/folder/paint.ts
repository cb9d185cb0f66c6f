/** Colours of text for a terminal. Not here: what is printed in which colour. */
import { styleText } from 'node:util';

/** Returns the text with the colour, or as it is if the standard output is no terminal or colours are switched off. */
export function paint(format: Parameters<typeof styleText>[0], text: string): string {
  return styleText(format, text, { stream: process.stdout });
}
