/** The formats of `-o`: one table of names, and the printer for data. Not here: text and Markdown of a command (print.ts, markdown.ts). */
import { parseJson, printYaml } from '@pergola/engine/metadata';
import { FlagProblem } from './flag-problem.ts';

export const OUTPUTS = ['text', 'json', 'yaml', 'markdown'] as const;
export type Output = (typeof OUTPUTS)[number];
/** The formats of all commands, test reports included. No folder is meant by such a name. */
export const FORMAT_NAMES: readonly string[] = [...OUTPUTS, 'junit', 'tap'];
/** A format for programs. */
export type DataOutput = Extract<Output, 'json' | 'yaml'>;

/** Returns the format; text when none is given. Raises FlagProblem for a format that the command does not have. */
export function outputOf<T extends Output>(given: unknown, allowed: readonly T[]): T {
  if (given === undefined) return 'text' as T;
  const output = allowed.find((one) => one === given);
  if (output === undefined) {
    throw new FlagProblem(`-o ${String(given)} is not supported; use ${allowed.join(', ')}`);
  }
  return output;
}

/** Returns a value as text that ends with a line break. */
export function printData(value: unknown, output: DataOutput): string {
  const json = JSON.stringify(value, null, 2);
  // The value passes through JSON, so that YAML has no anchors and no undefined either.
  return output === 'json' ? `${json}\n` : printYaml(parseJson(json));
}
