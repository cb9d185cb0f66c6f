/** Tests `pergola up` as a user runs it: start, query, edit, stop and start again, and two instances at once. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';

const TIMEOUT_MS = 120_000;
/** A copy of the example, because users edit theirs. */
const SHOP = new URL('./testing/shop', import.meta.url);

let folder: string;
const running: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync('/var/tmp/pergola-up-');
  cpSync(SHOP, join(folder, 'shop'), { recursive: true });
});
afterEach(async () => {
  await Promise.all(running.splice(0).map(stop));
  rmSync(folder, { recursive: true, force: true });
});

type Up = {
  readonly process: ChildProcess;
  readonly url: string;
  readonly secret: string;
  readonly said: () => string;
};

async function up(...flags: string[]): Promise<Up> {
  const data = join(folder, 'data');
  const args = ['bin/pergola.mjs', 'up', join(folder, 'shop'), '--port', '0', '--data', data, ...flags];
  const child = spawn(process.execPath, args, { env: { ...process.env, NO_COLOR: '1' } });
  running.push(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  await until(
    () => / resources are Ready/.test(said) || child.exitCode !== null,
    () => said,
  );
  const url = /GraphiQL +(http:\S+?)\/\s/.exec(said)?.[1] ?? '';
  return { process: child, url, secret: /Admin secret +(\S+)/.exec(said)?.[1] ?? '', said: () => said };
}

/** Starts an instance that must become ready. */
async function started(...flags: string[]): Promise<Up> {
  const it = await up(...flags);
  expect(it.process.exitCode, it.said()).toBeNull();
  return it;
}

async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill('SIGINT');
  return exited;
}

async function until(holds: () => boolean | Promise<boolean>, said = () => ''): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > deadline) expect.fail(`it did not come about within a minute\n${said()}`);
    await sleep(50);
  }
}

async function ask(
  { url, secret }: Up,
  query: string,
  role: string,
): Promise<{ data?: unknown; errors?: unknown }> {
  const response = await fetch(`${url}/v1/graphql`, {
    method: 'POST',
    headers: { 'x-engine-admin-secret': secret, 'x-engine-role': role, 'x-engine-user-id': '1' },
    body: JSON.stringify({ query }),
  });
  return (await response.json()) as { data?: unknown; errors?: unknown };
}

test('a role reads what its resource permits, an edit takes effect within two seconds, and a restart keeps the data', {
  timeout: TIMEOUT_MS,
}, async () => {
  const first = await started();
  expect(first.said()).toContain('Ran seed.sql.');
  expect(first.said()).toContain('8 of 8 resources are Ready');
  const titles = '{ product(order_by: {name: asc}, limit: 2) { name maker { name } } }';
  const answer = await ask(first, titles, 'visitor');
  expect(answer).toEqual({
    data: {
      product: [
        { name: 'awl', maker: { name: 'Anvil' } },
        { name: 'bolt', maker: { name: 'Bellows' } },
      ],
    },
  });
  expect((await ask(first, '{ product { cost } }', 'visitor')).errors).toBeDefined();
  expect((await ask(first, '{ sale { id } }', 'visitor')).data).toEqual({ sale: [{ id: 1 }, { id: 2 }] });
  expect((await ask(first, '{ sale { id } }', 'clerk')).data).toMatchObject({ sale: { length: 3 } });

  const file = join(folder, 'shop/permissions/visitor.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('[id, name]', '[id, name, cost]'));
  const edited = Date.now();
  await until(async () => (await ask(first, '{ product { cost } }', 'visitor')).errors === undefined);
  expect(Date.now() - edited).toBeLessThan(2000);

  await ask(first, 'mutation { insert_maker_one(object: {name: "New"}) { id } }', 'clerk');
  const secret = join(folder, 'data/admin-secret');
  expect(statSync(secret).mode & 0o777).toBe(0o600);
  expect(await stop(first.process)).toBe(0);
  expect(existsSync(join(folder, 'data/up.pid'))).toBe(false);
  await expect(fetch(`${first.url}/healthz`)).rejects.toThrow();

  const second = await started();
  expect(second.secret).toBe(first.secret);
  expect(second.said()).not.toContain('Ran seed.sql.');
  const names = await ask(second, '{ maker(where: {name: {_eq: "New"}}) { name } }', 'clerk');
  expect(names).toEqual({ data: { maker: [{ name: 'New' }] } });
  expect((await ask(second, '{ product(limit: 1) { cost } }', 'visitor')).errors).toBeUndefined();
});

test('instances with different data run at the same time, and a second instance on the same data does not start', {
  timeout: TIMEOUT_MS,
}, async () => {
  const [one, other] = await Promise.all([started(), started('--data', join(folder, 'other'))]);
  expect(one.url).not.toBe(other.url);
  for (const each of [one, other]) {
    expect((await ask(each, '{ maker { id } }', 'visitor')).data).toMatchObject({ maker: { length: 3 } });
  }
  const third = await up();
  expect(third.process.exitCode).toBe(1);
  expect(third.said()).toContain('another pergola up (pid');
  const fourth = await up('--data', join(folder, 'fourth'), '--port', new URL(one.url).port);
  expect(fourth.process.exitCode).toBe(1);
  expect(fourth.said()).toContain('is in use; give another one');
});

test('the first start after a crash cleans up and works', { timeout: TIMEOUT_MS }, async () => {
  const first = await started();
  first.process.kill('SIGKILL');
  await new Promise((resolve) => first.process.once('exit', resolve));
  const second = await started();
  expect(second.said()).toContain('8 of 8 resources are Ready');
  expect((await ask(second, '{ maker { id } }', 'visitor')).errors).toBeUndefined();
  // The engine of the first instance has ended.
  await expect(fetch(`${first.url}/healthz`)).rejects.toThrow();
});

test('an invalid port is reported', { timeout: TIMEOUT_MS }, async () => {
  const { process: child, said } = await up('--port', 'many');
  expect([child.exitCode, said()]).toEqual([2, expect.stringContaining('--port many is no port')]);
});
