/** Tests the command line of `pergola up`: its own flags, the options of `serve`, and what is refused. */
import { expect, test } from 'vitest';
import { FlagProblem } from '../../operator/folder/flag-problem.ts';
import { parseUp } from './options.ts';

const parse = (argv: readonly string[], env: NodeJS.ProcessEnv = {}) => parseUp(argv, env)!;

test('options of serve are passed on as variables, before and after --, beside a folder', () => {
  const options = parse([
    ...['--enable-allowlist', 'bin', '--pg-connections=7', '--port', '0', '--data=x'],
    ...['--', '--unauthorized-role', 'visitor', '--enable-telemetry', 'false'],
  ]);
  expect(options).toMatchObject({ folder: expect.stringMatching(/\/bin$/), port: 0, data: 'x' });
  expect(options.engineEnvironment).toMatchObject({
    ENGINE_GRAPHQL_ENABLE_ALLOWLIST: 'true',
    ENGINE_GRAPHQL_PG_CONNECTIONS: '7',
    ENGINE_GRAPHQL_UNAUTHORIZED_ROLE: 'visitor',
  });
});

test('the console may change things, unless an option or a variable says otherwise', () => {
  const modeOf = (...given: Parameters<typeof parse>) =>
    parse(...given).engineEnvironment['ENGINE_GRAPHQL_CONSOLE_MODE'];
  expect(modeOf([])).toBe('edit');
  expect(modeOf(['--console-mode', 'read-only'])).toBe('read-only');
  expect(modeOf([], { ENGINE_GRAPHQL_CONSOLE_MODE: 'read-only' })).toBe('read-only');
});

test('the console and the loopback address are defaults that options change, and --server-port is the port', () => {
  expect(parse([])).toMatchObject({
    host: '127.0.0.1',
    hasConsole: true,
    port: undefined,
    secretFrom: 'state',
  });
  const changed = parse(['--server-host', '::', '--enable-console', 'false', '--server-port=1234']);
  expect(changed).toMatchObject({ host: '::', hasConsole: false, port: 1234 });
  const env = { ENGINE_GRAPHQL_SERVER_HOST: '0.0.0.0', ENGINE_GRAPHQL_ADMIN_SECRET: 'one' };
  expect(parse([], env)).toMatchObject({ host: '0.0.0.0', adminSecret: 'one', secretFrom: 'variable' });
  expect(parse(['--admin-secret', 'two'], env)).toMatchObject({ adminSecret: 'two', secretFrom: 'given' });
});

test('the variable of the database has no effect, and its flag has', () => {
  const env = { ENGINE_GRAPHQL_DATABASE_URL: 'postgres://elsewhere' };
  expect(parse([], env).databaseUrl).toBeUndefined();
  expect(parse(['--database-url', 'postgres://here'], env).databaseUrl).toBe('postgres://here');
});

test('failed deliveries are logged for every list of log types', () => {
  const types = (...argv: string[]) => parse(argv).engineEnvironment['ENGINE_GRAPHQL_ENABLED_LOG_TYPES'];
  expect(types()).toMatch(/^startup,.*,event-trigger,scheduled-trigger$/);
  expect(types('--enabled-log-types', 'query-log')).toBe('query-log,event-trigger,scheduled-trigger');
});

test.each([
  [['--pot', '3'], 'there is no flag --pot; did you mean --port?'],
  [['--enable-alowlist'], 'there is no flag --enable-alowlist; did you mean --enable-allowlist?'],
  [['--port'], '--port needs a value'],
  [['--port='], '--port  is no port'],
  [['--server-port', '99999'], '--server-port expects a whole number from 0 to 65535, not "99999"'],
  [['--pg-connections', 'many'], '--pg-connections expects a whole number from 1 to 10000, not "many"'],
  [['bin', 'docs'], 'expected one folder, not bin and docs'],
  [['--edited-sql', 'dawn'], '--edited-sql dawn is not supported; use refuse, down, recreate'],
  [['--run-sql'], '--run-sql needs --database-url; in the embedded database the SQL is run anyway'],
  [
    ['--edited-sql', 'recreate', '--run-sql', '--database-url', 'postgres://here'],
    '--edited-sql recreate is for the embedded database; in your own, use --edited-sql down',
  ],
  [
    ['--edited-sql', 'down', '--database-url', 'postgres://here'],
    '--edited-sql down needs --run-sql in your own database',
  ],
  [['--migrations', 'nowhere'], `there is no folder ${process.cwd()}/nowhere`],
  [['constructor'], `there is no folder ${process.cwd()}/constructor`],
  [['package.json'], `${process.cwd()}/package.json is a file; give the folder that contains it`],
])('%j is refused', (argv, message) => {
  expect(() => parse(argv)).toThrow(new FlagProblem(message));
});
