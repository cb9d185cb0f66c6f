/** The types of words.js. */
import type { Options } from 'minisearch';

export function wordsOf(text: string): string[];
export const INDEX: Options;
