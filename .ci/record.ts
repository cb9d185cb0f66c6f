/** Writes measured figures to a file, with what they depend on: the date, the commit, the version of Node and the number of cores.
 *  docs/pages/speed.ts prints those that are committed. Not here: what is measured (speed.ts, size.ts, compile.ts, scale.ts). */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

export type Recorded<Figures> = {
  readonly date: string;
  readonly commit: string;
  readonly node: string;
  readonly cores: number;
  readonly figures: Figures;
};

/** More digits would only change with every run. */
const DIGITS = 4;
const DIGITS_BELOW_ONE = 3;

export function writeRecord<Figures>(file: string, figures: Figures): void {
  const recorded: Recorded<Figures> = {
    date: new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim(),
    node: process.versions.node,
    cores: availableParallelism(),
    figures,
  };
  const shortened = (_: string, value: unknown) =>
    typeof value === 'number' && !Number.isInteger(value)
      ? Number(value.toPrecision(value < 1 ? DIGITS_BELOW_ONE : DIGITS))
      : value;
  writeFileSync(file, `${JSON.stringify(recorded, shortened, 2)}\n`);
}
