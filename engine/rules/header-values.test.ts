/** Headers of webhooks and remote schemas: every operation that takes them × which of `value` and `value_from_env` is given,
 *  and what is sent. Rule: docs/reference/behaviour/metadata.md, "Headers". */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { TestWebhook } from '../../testing/webhook.ts';
import { adminOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
let remote: RemoteService;
let webhook: TestWebhook<unknown>;
beforeAll(async () => {
  webhook = await TestWebhook.start();
  remote = await startRemote('type Query { hello: String }');
  world = await startWorld({
    sql: 'create table note (id int primary key)',
    tables: ['note'],
    options: { env: { TOKEN: 'secret', OTHER: 'open', REMOTE: remote.url, HOOK: webhook.url } },
  });
});
afterAll(async () => {
  await world?.close();
  await remote?.close();
  webhook?.close();
});

const WEBHOOK = 'http://127.0.0.1:9/';
let count = 0;
const name = () => `name_${count++}`;

/** The arguments of each operation around a list of headers, and the path of the list in them. */
const OPERATIONS: Readonly<Record<string, readonly [path: string, args: (headers: object[]) => object]>> = {
  pg_create_event_trigger: [
    '$.headers',
    (headers) => ({ name: name(), table: 'note', webhook: WEBHOOK, insert: { columns: '*' }, headers }),
  ],
  create_action: [
    '$.args.definition.headers',
    (headers) => ({ name: name(), definition: { handler: WEBHOOK, output_type: 'String', headers } }),
  ],
  add_remote_schema: [
    '$.args.definition.headers',
    (headers) => {
      // Two remote schemas must not have a field in common.
      const customization = { root_fields_namespace: name(), type_names: { prefix: name() } };
      return { name: name(), definition: { url_from_env: 'REMOTE', customization, headers } };
    },
  ],
  create_cron_trigger: [
    '$.args.headers',
    (headers) => ({
      name: name(),
      webhook: WEBHOOK,
      schedule: '0 0 1 1 *',
      include_in_metadata: true,
      headers,
    }),
  ],
  create_scheduled_event: [
    '$.args.headers',
    (headers) => ({ webhook: WEBHOOK, schedule_at: '2999-01-01T00:00:00Z', headers }),
  ],
  pg_create_insert_permission: [
    '$.permission.validate_input.definition.headers',
    (headers) => ({
      table: 'note',
      role: name(),
      permission: {
        check: {},
        columns: '*',
        validate_input: { type: 'http', definition: { url: WEBHOOK, headers } },
      },
    }),
  ],
};

const NEITHER = 'expecting value or value_from_env keys';
const BOTH = 'expecting only one of value or value_from_env keys';

/** What a header has besides its name, and the message of its refusal; null where it is accepted. */
const HEADERS: readonly (readonly [object, string | null])[] = [
  [{ value: 'x' }, null],
  [{ value: '' }, null],
  [{ value_from_env: 'TOKEN' }, null],
  [{ value: 'Bearer {{TOKEN}}, {{ OTHER }}' }, null],
  [{ value: 'x', value_from_env: null }, null],
  [{}, NEITHER],
  [{ value: null }, NEITHER],
  [{ value: null, value_from_env: null }, NEITHER],
  [{ value: 'x', value_from_env: 'TOKEN' }, BOTH],
];

describe.each(Object.entries(OPERATIONS))('%s', (type, [path, args]) => {
  test.each(HEADERS)('a header with %o: %s', async (given, message) => {
    const outcome = await adminOutcome(
      world.engine,
      type,
      args([
        { name: 'X-Good', value: 'y' },
        { name: 'X', ...given },
      ]),
    );
    if (message === null) expect(outcome).toHaveProperty('data');
    else expect(outcome).toEqual({ code: 'parse-failed', path: `${path}[1]`, message });
  });
});

test('a document with such a header is refused at the header', async () => {
  const metadata = {
    version: 3,
    sources: [],
    cron_triggers: [
      {
        name: 'c',
        webhook: WEBHOOK,
        schedule: '0 0 1 1 *',
        include_in_metadata: true,
        headers: [{ name: 'X' }],
      },
    ],
  };
  const outcome = await adminOutcome(world.engine, 'replace_metadata', { metadata }, { version: 2 });
  expect(outcome).toEqual({
    code: 'parse-failed',
    path: expect.stringMatching(/cron_triggers\[0\]\.headers\[0\]$/),
    message: NEITHER,
  });
});

const ODD_TEXTS = [
  ['plain', 'plain'],
  ['Bearer {{TOKEN}}', 'Bearer secret'],
  ['{{TOKEN}}-{{ OTHER }}', 'secret-open'],
  ['{TOKEN} {{', '{TOKEN} {{'],
] as const;

describe.each(ODD_TEXTS)('the value %j', (value, sent) => {
  const headers = [{ name: 'X-Sent', value }];

  test('is sent to a remote schema', async () => {
    const namespace = name();
    const customization = { root_fields_namespace: namespace, type_names: { prefix: namespace } };
    await admin('add_remote_schema', {
      name: namespace,
      definition: { url_from_env: 'REMOTE', customization, headers },
    });
    await world.engine.graphql(`{ ${namespace} { hello } }`);
    expect(remote.asked.at(-1)!.headers['x-sent']).toBe(sent);
  });

  test('is sent to the webhooks of actions and events', async () => {
    const [action, trigger] = [name(), name()];
    const definition = { type: 'query', handler: '{{HOOK}}/action', output_type: 'json', headers };
    await admin('create_action', { name: action, definition });
    await admin('pg_create_event_trigger', {
      name: trigger,
      table: 'note',
      webhook_from_env: 'HOOK',
      enable_manual: true,
      headers,
    });
    webhook.reset();
    await world.engine.graphql(`{ ${action} }`);
    await admin('pg_invoke_event_trigger', { name: trigger, payload: {} });
    await vi.waitFor(() => expect(webhook.received.length).toBe(2), 5000);
    expect(webhook.received.map((each) => each.headers['x-sent'])).toEqual([sent, sent]);
  });
});

async function admin(type: string, args: object): Promise<void> {
  expect(await adminOutcome(world.engine, type, args)).toHaveProperty('data');
}
