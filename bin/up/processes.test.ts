/** Tests what is read about processes, from /proc and from `ps`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { fromPs, launchersOf, processInfo } from './processes.ts';

let child: ChildProcess | undefined;
afterEach(() => child?.kill('SIGKILL'));

test('/proc and ps agree about a running process, and know none that has ended', async () => {
  child = spawn('sleep', ['600'], { stdio: 'ignore' });
  await once(child, 'spawn');
  const { pid } = child;
  const expected = { parent: process.pid, command: 'sleep 600' };
  expect(processInfo(pid!)).toMatchObject(expected);
  expect(fromPs(pid!)).toMatchObject({
    ...expected,
    startedAt: expect.stringMatching(/ \d\d:\d\d:\d\d \d{4}$/),
  });
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect([processInfo(pid!), fromPs(pid!)]).toEqual([undefined, undefined]);
});

test('launchers are npm and the shells between it and the process, and an ordinary shell is none', async () => {
  const script =
    'process.title = "npm exec pergola up"; require("child_process").spawn("sh", ["-c", "sleep 600; true"])';
  child = spawn(process.execPath, ['-e', `${script}.on("spawn", () => console.log("up"))`]);
  await once(child.stdout!, 'data');
  const shell = (pid: number) => launchersOf(pid).map((each) => each.pid);
  expect(shell(child.pid!)).toEqual([child.pid]);
  expect(shell(process.pid)).toEqual([]);
});
