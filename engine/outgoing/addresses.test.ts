/** Tests which addresses may be connected to, in every spelling, by every way to open a connection. Names and addresses are served from a port
 *  of this machine after the decision, so a refused address that were requested would answer here, and no request leaves the machine. */
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { type AddressInfo, isIPv4, type Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { openSocket } from '../wire/socket.ts';
import {
  AddressRefused,
  type AllowsLoopback,
  guardedAgent,
  isAdmitted,
  isLoopbackHost,
  type Network,
  setLoopbackHosts,
} from './addresses.ts';

const REFUSED = [
  ...['169.254.169.254', '169.254.0.1', '169.254.170.2', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
  ...['0.0.0.0', '0.1.2.3', '224.0.0.1', '255.255.255.255'],
];
const REFUSED_IPV6 = ['::', 'fe80::1', 'fe80::1%lo', 'ff02::1', 'fd00:ec2::254', 'fd20:ce::254'];
const LOOPBACK = ['127.0.0.1', '127.8.9.1'];
const ADMITTED = ['10.0.0.1', '172.16.3.4', '192.168.1.1', '100.64.0.1', '93.184.216.34', '192.0.2.1'];
const ADMITTED_IPV6 = ['fd00::1', '2001:db8::1', 'fd00:ec2::253'];

/** Returns the address in the forms of IPv6 that lead to it. */
function formsOf(address: string): readonly string[] {
  const [a, b, c, d] = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  const [high, low] = [`${a}${b}`, `${c}${d}`];
  return [
    address,
    `::ffff:${address}`,
    `0:0:0:0:0:ffff:${high}:${low}`,
    `64:ff9b::${high}:${low}`,
    `2002:${high}:${low}::1`,
  ];
}

/** The spellings that WHATWG URLs and the resolver read as the same address. */
function spellingsOf(address: string): readonly string[] {
  const bytes = address.split('.').map(Number);
  const number = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
  const octal = bytes.map((byte) => `0${byte.toString(8)}`).join('.');
  return [address, String(number), `0x${number.toString(16)}`, octal];
}

let port: number;
let requests = 0;
const sockets = new Set<Socket>();
beforeAll(async () => {
  const server = createServer((_, response) => {
    requests++;
    response.end('served');
  });
  server.on('upgrade', (_, socket) => {
    requests++;
    socket.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  return () => {
    server.close();
    server.closeAllConnections();
    for (const socket of sockets) socket.destroy();
  };
});
afterEach(() => {
  requests = 0;
  setLoopbackHosts('*');
});

/** Resolves each name to the addresses in turn, and serves every admitted address from this machine. */
function networkOf(...answers: readonly (readonly string[])[]): Network & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    lookup: (host, _, callback) => {
      const found = answers[Math.min(asked.push(host), answers.length) - 1]!;
      const addresses = found.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
      process.nextTick(() => callback(null, addresses));
    },
    routed: () => '127.0.0.1',
  };
}

const never: AllowsLoopback = () => false;

/** Requests the host and returns the answer, or the code of the error. */
async function fetched(host: string, network: Network, allows = never): Promise<string> {
  const agent = guardedAgent(new Agent(), allows, network);
  const sent = request(new URL(`http://${host.includes(':') ? `[${host}]` : host}:${port}/`), {
    agent,
  }).end();
  return once(sent, 'response').then(
    async ([response]) => (await response.toArray()).join(''),
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );
}

const ANYWHERE = networkOf([]);

describe('the decision about an address', () => {
  test.each([...REFUSED.flatMap(formsOf), ...REFUSED_IPV6])('%s is never admitted', (address) => {
    expect([isAdmitted(address, false), isAdmitted(address, true)]).toEqual([false, false]);
  });

  test.each([...LOOPBACK.flatMap(formsOf), '::1'])('%s is this machine', (address) => {
    expect([isAdmitted(address, false), isAdmitted(address, true)]).toEqual([false, true]);
  });

  test.each([...ADMITTED.flatMap(formsOf), ...ADMITTED_IPV6])('%s is admitted', (address) => {
    expect(isAdmitted(address, false)).toBe(true);
  });

  test.each(['', 'localhost', '127.0.0.1 ', '1.2.3'])('%j is no address', (text) => {
    expect(isAdmitted(text, true)).toBe(false);
  });
});

describe('a request over HTTP', () => {
  // WHATWG URLs have no zone.
  const literals = [...REFUSED.flatMap((one) => [...formsOf(one), ...spellingsOf(one)]), ...REFUSED_IPV6];
  test.each(literals.filter((host) => !host.includes('%')))('to %s is not sent', async (host) => {
    expect(await fetched(host, ANYWHERE, () => true)).toBe('ERR_ADDRESS_REFUSED');
    expect(requests).toBe(0);
  });

  test.each([...REFUSED, ...REFUSED_IPV6, ...LOOPBACK, '::1'])(
    'to a name of %s is not sent',
    async (address) => {
      expect(await fetched('service.example', networkOf([address]))).toBe('ERR_ADDRESS_REFUSED');
      expect(await fetched('service.example', networkOf(['10.0.0.1', address]))).toBe('ERR_ADDRESS_REFUSED');
      expect(requests).toBe(0);
    },
  );

  test.each([...ADMITTED, ...ADMITTED_IPV6])('to %s, and to a name of it, is sent', async (address) => {
    expect(await fetched(address, ANYWHERE)).toBe('served');
    expect(await fetched('service.example', networkOf([address]))).toBe('served');
  });

  test('uses the addresses of the look-up that was checked', async () => {
    const changing = networkOf(['10.0.0.1'], ['169.254.169.254']);
    expect(await fetched('service.example', changing)).toBe('served');
    expect(changing.asked).toEqual(['service.example']);
    expect(await fetched('service.example', changing)).toBe('ERR_ADDRESS_REFUSED');
  });

  test('reaches this machine only by a host that may be here', async () => {
    const here = (host: string) => host === 'localhost';
    expect(await fetched('localhost', networkOf(['127.0.0.1']), here)).toBe('served');
    expect(await fetched('rebound.example', networkOf(['127.0.0.1']), here)).toBe('ERR_ADDRESS_REFUSED');
    expect(await fetched('127.0.0.1', ANYWHERE, here)).toBe('ERR_ADDRESS_REFUSED');
  });

  test('fails as the look-up does', async () => {
    const failing: Network = {
      ...ANYWHERE,
      lookup: (_, __, callback) => callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []),
    };
    expect(await fetched('service.example', failing)).toBe('ENOTFOUND');
    expect(await fetched('service.example', networkOf([]))).toBe('ERR_ADDRESS_REFUSED');
  });
});

test.each(['169.254.169.254', '0.0.0.0', 'fe80::1'])(
  'a WebSocket to %s, or a name of it, is not opened',
  async (address) => {
    for (const [host, network] of [
      [isIPv4(address) ? address : `[${address}]`, ANYWHERE],
      ['service.example', networkOf([address])],
    ] as const) {
      const agent = guardedAgent(new Agent(), () => true, network);
      const [error] = await once(new WebSocket(`ws://${host}:${port}/`, { agent }), 'error');
      expect(error).toBeInstanceOf(AddressRefused);
    }
    expect(requests).toBe(0);
  },
);

describe('a connection to a database', () => {
  const connect = (host: string, network: Network, address?: string) =>
    openSocket({ host, port, address }, 'plain', { mode: 'disable' }, 5000, network).then(
      (socket) => {
        sockets.add(socket);
        return 'connected';
      },
      (error: NodeJS.ErrnoException) => error.code,
    );

  test.each([...REFUSED, ...REFUSED_IPV6])('at %s, or a name of it, is not opened', async (address) => {
    expect(await connect(address, ANYWHERE)).toBe('ERR_ADDRESS_REFUSED');
    expect(await connect('db.example', ANYWHERE, address)).toBe('ERR_ADDRESS_REFUSED');
    expect(await connect('db.example', networkOf([address]))).toBe('ERR_ADDRESS_REFUSED');
  });

  test('on this machine follows the options of the engine', async () => {
    expect(await connect('db.example', networkOf(['127.0.0.1']))).toBe('connected');
    setLoopbackHosts('localhost, 127.0.0.1');
    expect(await connect('db.example', networkOf(['127.0.0.1']))).toBe('ERR_ADDRESS_REFUSED');
    expect(await connect('localhost', networkOf(['127.0.0.1']))).toBe('connected');
    expect(await connect('127.0.0.1', ANYWHERE)).toBe('connected');
    expect(await connect('10.0.0.1', ANYWHERE)).toBe('connected');
  });
});

test('the resolver of the system reads other spellings of a refused address', async () => {
  const refusals = ['0x7f.1', '017700000001', '2130706433'].map((host) =>
    openSocket({ host, port }, 'plain', { mode: 'disable' }, 5000).catch((error) => error.code),
  );
  setLoopbackHosts('localhost');
  expect(isLoopbackHost('0x7f.1')).toBe(false);
  expect(await Promise.all(refusals)).not.toContain('ERR_ADDRESS_REFUSED');
  const listed = ['0x7f.1', '017700000001', '2130706433'].map((host) =>
    openSocket({ host, port }, 'plain', { mode: 'disable' }, 5000).catch((error) => error.code),
  );
  expect(await Promise.all(listed)).toEqual(listed.map(() => 'ERR_ADDRESS_REFUSED'));
});
