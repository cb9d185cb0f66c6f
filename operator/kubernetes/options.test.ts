/** Tests the options: precedence of flags, variables and defaults, and errors for invalid values. */
import { expect, test } from 'vitest';
import { help, loadOptions, OPTIONS } from './options.ts';

test('a flag has priority over its variable, and a variable over the default', () => {
  const env = { PERGOLA_HEALTH_PORT: '9000', PERGOLA_LEASE_NAME: 'theirs' };
  const options = loadOptions(['--health-port', '9001'], env);
  expect(options).toMatchObject({ healthPort: 9001, leaseName: 'theirs', leaderElect: true });
});

test('an empty variable counts as not set', () => {
  expect(loadOptions([], { PERGOLA_HEALTH_PORT: '' })?.healthPort).toBe(8081);
});

test('the option for namespaces is a comma-separated list', () => {
  expect(loadOptions(['--watch-namespaces', 'a, b,'], {})?.watchNamespaces).toEqual(['a', 'b']);
  expect(loadOptions([], {})?.watchNamespaces).toEqual([]);
});

test.each([
  [['--health-port', 'many'], '--health-port is a whole number, not many'],
  [['--leader-elect', 'perhaps'], '--leader-elect is true or false, not perhaps'],
  [['--log-level', 'loud'], '--log-level is debug, info, warn, error, silent, not loud'],
  [['--watch'], "Unknown option '--watch'"],
])('invalid arguments are rejected: %j', (argv, message) => {
  expect(() => loadOptions(argv, {})).toThrow(message);
});

test('the help lists every flag with its variable', () => {
  for (const [name, { variable }] of Object.entries(OPTIONS)) {
    expect(help()).toContain(`--${name} `);
    expect(help()).toContain(variable);
  }
});
