/** Tests the table of differences from the reference engine, and the switch that it gives. */
import { expect, test } from 'vitest';
import { EngineError } from '../errors/engine-error.ts';
import { adviceOn, DIFFERENCES, differencesIn, remedyOf } from './compatibility.ts';
import { loadOptions } from './load-options.ts';
import { nameOf, OPTIONS, variableOf } from './options.ts';

const load = (argv: readonly string[], env: Record<string, string> = {}) =>
  loadOptions(['--database-url', 'postgres://x', ...argv], env);
const SWITCH = ['--compatibility', 'reference'];

test('an option has one row, and its default is not the behaviour of the reference', () => {
  const flags = DIFFERENCES.map(({ option }) => option);
  expect(new Set(flags).size).toBe(flags.length);
  for (const { option, value } of DIFFERENCES) expect(OPTIONS[option].default, option).not.toEqual(value);
});

test.each(DIFFERENCES.map((row) => [row.option, row] as const))('%s', (option, row) => {
  const [name, text] = [nameOf(option), String(row.value)];
  const [safe, reference] = [load([]), load(SWITCH)];
  expect(safe[name]).toEqual(OPTIONS[option].default);
  expect(reference[name]).toEqual(row.isInSwitch ? row.value : OPTIONS[option].default);
  // The value is one that the option can be given, and an option that is given wins in both ways.
  expect(load([`--${option}=${text}`])[name]).toEqual(row.value);
  if (OPTIONS[option].default !== undefined) {
    const given = String(OPTIONS[option].default);
    expect(load([...SWITCH, `--${option}=${given}`])[name]).toEqual(OPTIONS[option].default);
    expect(load(SWITCH, { [variableOf(option)]: given })[name]).toEqual(OPTIONS[option].default);
    expect(load(SWITCH, { [variableOf(option).replace('ENGINE_', 'HASURA_')]: given })[name]).toEqual(
      OPTIONS[option].default,
    );
  }
  expect(differencesIn(safe)).toContain(`${row.what} (${remedyOf(row)})`);
  expect(differencesIn(reference).some((text) => text.startsWith(row.what))).toBe(!row.isInSwitch);
});

test('the switch changes no other option', () => {
  const changed = new Set<string>(DIFFERENCES.map(({ option }) => nameOf(option)));
  const rest = (options: object) =>
    Object.fromEntries(
      Object.entries(options).filter(([name]) => name !== 'compatibility' && !changed.has(name)),
    );
  expect(rest(load(SWITCH))).toEqual(rest(load([])));
});

test.each(['ENGINE_COMPATIBILITY', 'ENGINE_GRAPHQL_COMPATIBILITY'])('%s is the switch', (variable) => {
  expect(load([], { [variable]: 'reference' })).toEqual(load(SWITCH));
  expect(load(['--compatibility', 'safe'], { [variable]: 'reference' })).toEqual(load([]));
});

test('an error of another limit names no option', () => {
  const options = load([]);
  const advice = (most: number) => adviceOn(new EngineError('timeLimitExceeded', { most }), options);
  expect(advice(60)).toBe('--default-time-limit 0, or --compatibility reference');
  expect(advice(5)).toBeUndefined();
  expect(adviceOn(new EngineError('bodyTooLarge', { mostBytes: 1 }), options)).toBeUndefined();
});
