/** Starts a Chromium without a window for tests of pages, and drives it over the DevTools protocol.
 *  In: PERGOLA_TEST_BROWSER, or the first browser of NAMES on PATH. Out: a page, and functions that run JavaScript in
 *  it, type, and wait. Not here: what the page must do (the tests). Reference: the protocol's domains Target, Page, Runtime, Input, Emulation. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';

/** The shell is Chromium without the parts of its windows: a page takes a third of the CPU. */
const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const TIMEOUT_MS = 30_000;

/** The control key in the modifiers of an event. */
const CONTROL = 2;
const KEY_CODES = { Tab: 9, Escape: 27, Space: 32, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 } as const;

/** Returns the path of a browser; undefined where there is none. */
export function browserPath(): string | undefined {
  const given = process.env['PERGOLA_TEST_BROWSER'];
  if (given) return given;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
}

export const HAS_BROWSER = browserPath() !== undefined;
/** The end of the title of tests that are skipped without a browser. */
export const REASON = HAS_BROWSER ? '' : ' (skipped: no chromium on PATH and no PERGOLA_TEST_BROWSER)';

export type Page = {
  readonly go: (url: string) => Promise<void>;
  readonly reload: () => Promise<void>;
  /** Runs an expression in the page and returns its value. */
  readonly evaluate: <T = unknown>(expression: string) => Promise<T>;
  /** Waits until the expression is true in the page; fails with the text of the page when it does not become true. */
  readonly until: (expression: string) => Promise<void>;
  /** Types text into the element that has the focus. */
  readonly type: (text: string) => Promise<void>;
  readonly pressEnter: () => Promise<void>;
  /** Presses a key, which enters no text, alone or with the control key. */
  readonly pressKey: (key: keyof typeof KEY_CODES, withControl?: 'control') => Promise<void>;
  /** Selects everything in the element that has the focus, so that `type` replaces it. */
  readonly selectAll: () => Promise<void>;
  readonly resize: (width: number, height: number) => Promise<void>;
  /** Sets the colour scheme that the user prefers: `light` or `dark`. */
  readonly prefer: (scheme: string) => Promise<void>;
  /** Writes what the window shows into a PNG. */
  readonly screenshot: (file: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

export type Browser = {
  /** Opens a page that shares nothing with others. */
  readonly newPage: () => Promise<Page>;
  readonly close: () => Promise<void>;
};

export async function startBrowser(path = browserPath()!): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'pergola-browser-'));
  const child = spawn(
    path,
    [
      ...['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'],
      ...['--disable-background-networking', '--remote-debugging-port=0', `--user-data-dir=${profile}`],
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const close = async () => {
    // The browser has processes of its own in its group.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await exited;
    rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  try {
    const url = await devToolsUrl(child);
    const send = await connect(url);
    return { newPage: () => openPage(url, send), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function devToolsUrl(child: ChildProcess): Promise<string> {
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const deadline = Date.now() + TIMEOUT_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    const url = /DevTools listening on (ws:\S+)/.exec(said)?.[1];
    if (url !== undefined) return url;
    await sleep(20);
  }
  throw new Error(`the browser did not start: ${said}`);
}

type Send = <T>(method: string, params?: object) => Promise<T>;

async function openPage(url: string, browser: Send): Promise<Page> {
  const context = await browser<{ browserContextId: string }>('Target.createBrowserContext');
  const { targetId } = await browser<{ targetId: string }>('Target.createTarget', {
    url: 'about:blank',
    ...context,
  });
  const { host } = new URL(url);
  const send = await connect(`ws://${host}/devtools/page/${targetId}`);
  await send('Page.enable');
  const evaluate = async <T>(expression: string): Promise<T> => {
    const { result, exceptionDetails } = await send<{
      result: { value: T };
      exceptionDetails?: { exception?: { description?: string }; text: string };
    }>('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  return {
    evaluate,
    go: async (address) => void (await send('Page.navigate', { url: address })),
    reload: async () => void (await send('Page.reload')),
    until: async (expression) => {
      const deadline = Date.now() + TIMEOUT_MS;
      for (;;) {
        const beganMs = Date.now();
        // While the page loads there may be no document.
        if (await evaluate<boolean>(`Boolean(${expression})`).catch(() => false)) return;
        if (Date.now() > deadline) break;
        // The text of a large page takes a while to read, and the page has to get on meanwhile.
        await sleep(Math.max(50, 3 * (Date.now() - beganMs)));
      }
      throw new Error(`not true in time: ${expression}\n${await evaluate('document.body.innerText')}`);
    },
    type: async (text) => void (await send('Input.insertText', { text })),
    pressEnter: async () => {
      const key = { key: 'Enter', code: 'Enter', text: '\r', windowsVirtualKeyCode: 13 };
      for (const type of ['keyDown', 'keyUp']) await send('Input.dispatchKeyEvent', { type, ...key });
    },
    pressKey: async (key, withControl) => {
      const modifiers = withControl === undefined ? 0 : CONTROL;
      const event = { key, code: key, windowsVirtualKeyCode: KEY_CODES[key], modifiers };
      for (const type of ['rawKeyDown', 'keyUp']) await send('Input.dispatchKeyEvent', { type, ...event });
    },
    selectAll: async () => {
      const key = {
        key: 'a',
        code: 'KeyA',
        windowsVirtualKeyCode: 65,
        modifiers: CONTROL,
        commands: ['selectAll'],
      };
      for (const type of ['rawKeyDown', 'keyUp']) await send('Input.dispatchKeyEvent', { type, ...key });
    },
    resize: async (width, height) =>
      void (await send('Emulation.setDeviceMetricsOverride', {
        width,
        height,
        deviceScaleFactor: 1,
        mobile: false,
      })),
    prefer: async (scheme) => {
      const features = [{ name: 'prefers-color-scheme', value: scheme }];
      await send('Emulation.setEmulatedMedia', { features });
    },
    screenshot: async (file) => {
      const { data } = await send<{ data: string }>('Page.captureScreenshot');
      writeFileSync(file, Buffer.from(data, 'base64'));
    },
    close: async () => void (await browser('Target.disposeBrowserContext', context)),
  };
}

/** Connects to a target. Rejects a call when the target answers with an error. */
async function connect(url: string): Promise<Send> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  socket.on('message', (data) => {
    const { id, result, error } = JSON.parse(String(data));
    const call = waiting.get(id);
    if (error) call?.reject(new Error(error.message));
    else call?.resolve(result);
    waiting.delete(id);
  });
  socket.on('error', () => {});
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  let last = 0;
  return <T>(method: string, params: object = {}) => {
    const call = Promise.withResolvers<unknown>();
    waiting.set(++last, call);
    socket.send(JSON.stringify({ id: last, method, params }));
    return call.promise as Promise<T>;
  };
}
