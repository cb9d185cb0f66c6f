/** The example as `make start` runs it, and a page of a browser: for tests of what a user does with it. Not here: what the pages must show (the tests). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Page, startBrowser } from './browser.ts';

export const BUTTON = 'document.querySelector(".graphiql-execute-button")';
export const IS_IDLE = `${BUTTON}.ariaLabel.startsWith("Execute")`;
export const EDITOR =
  'document.querySelector(".graphiql-query-editor .native-edit-context, .graphiql-query-editor textarea")';

const ROOT = join(import.meta.dirname, '..');

/** Starts the example and a browser, calls `use` with a page and what the command has printed, and stops both. */
export async function withExample(use: (page: Page, printed: string) => Promise<void>): Promise<void> {
  const data = mkdtempSync('/var/tmp/pergola-example-');
  const args = ['bin/pergola.mjs', 'up', 'deploy/examples/library', '--port', '0'];
  const up = spawn(process.execPath, [...args, '--data', join(data, 'data')], {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: '1' },
  });
  const browser = await startBrowser();
  try {
    let printed = '';
    up.stdout.setEncoding('utf8').on('data', (text) => (printed += text));
    await expect.poll(() => printed, { timeout: 60_000 }).toContain('Ctrl-C stops everything');
    await use(await browser.newPage(), printed);
  } finally {
    await browser.close();
    up.kill('SIGINT');
    await once(up, 'exit');
    rmSync(data, { recursive: true, force: true });
  }
}

export function signInLinkIn(printed: string): string {
  return /Sign in +(\S+)/.exec(printed)![1]!;
}

/** Returns an expression that is true when an editor shows the text. */
export function shows(editor: string, text: string): string {
  const lines = `document.querySelector(".${editor} .view-lines")?.innerText ?? ""`;
  return `(${lines}).replaceAll("\\u00a0", " ").includes(${JSON.stringify(text)})`;
}
