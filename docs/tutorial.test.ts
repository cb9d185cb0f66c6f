/** Follows docs/guides/first-product.md as a reader does: saves each file under its name, runs each command in the order of the page, sends each request to
 *  the engine of `pergola up`, compares with the outputs of the page, and does in a browser what its pictures show. With PERGOLA_SCREENSHOTS=1 it writes the pictures
 *  again (`npm run screenshots`). Not here: the resources without the commands (operator/end-to-end/guides.test.ts). */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { blocksOf } from '../operator/testing/guide.ts';
import { HAS_BROWSER, REASON, startBrowser } from '../testing/browser.ts';
import { signInLinkIn } from '../testing/example-in-browser.ts';
import { GREEN, TUTORIAL_PICTURES } from './testing/tutorial-pictures.ts';

const PERGOLA = join(import.meta.dirname, '../bin/pergola.mjs');
const TUTORIAL = readFileSync(join(import.meta.dirname, 'guides/first-product.md'), 'utf8');
const steps = [...blocksOf(TUTORIAL), ...pictures()].toSorted((a, b) => a.line - b.line);
const folder = mkdtempSync('/var/tmp/pergola-tutorial-');
const env = { ...process.env, NO_COLOR: '1' };

/** Returns the pictures of the page as steps with the name of their file. */
function pictures(): ReturnType<typeof blocksOf> {
  return TUTORIAL.split('\n').flatMap((line, i) => {
    const name = /^!\[.+\]\(\.\.\/images\/(.+)\.png\)$/.exec(line)?.[1];
    return name === undefined ? [] : [{ line: i + 1, language: 'picture', words: [], text: name }];
  });
}

let stop = async (): Promise<void> => {};
afterAll(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

let printedByUp = '';
const upPrinted = (pattern: RegExp) => pattern.exec(printedByUp)?.[1] ?? '';

/** Starts `pergola up` on a free port. */
function startUp(words: readonly string[]): void {
  const up = spawn(process.execPath, [PERGOLA, ...words, '--port', '0'], { cwd: folder, env });
  for (const stream of [up.stdout, up.stderr])
    stream.setEncoding('utf8').on('data', (text) => (printedByUp += text));
  stop = async () => {
    up.kill('SIGINT');
    await once(up, 'exit');
  };
}

/** Runs the lines of a block. Returns what they print, with the exit code of the last one. */
function run(lines: string): Promise<{ readonly code: number; readonly printed: string }> {
  // The engine of the page has the default port, which may be taken here.
  const engine = upPrinted(/GraphQL +(http:\/\/[^/]+)/);
  const commands = `pergola() { "${process.execPath}" "${PERGOLA}" "$@"; }\n${lines.replace(/(pergola plan)/, `$1 --engine ${engine}`)}`;
  return new Promise((resolve) => {
    execFile('bash', ['-c', commands], { cwd: folder, env }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), printed: `${out}${err}`.trim() }),
    );
  });
}

function save(text: string): void {
  const name = /^(?:--|#) (\S+)/.exec(text)![1]!;
  mkdirSync(join(folder, dirname(name)), { recursive: true });
  writeFileSync(join(folder, name), `${text}\n`);
}

/** Replaces the line with `-` by the line with `+`. The file has the first one once. */
function edit(text: string): void {
  const [, name, before, after] = /^# (\S+)\n-(.*)\n\+(.*)$/.exec(text)!;
  const file = join(folder, name!);
  expect(readFileSync(file, 'utf8').split(before!)).toHaveLength(2);
  writeFileSync(file, readFileSync(file, 'utf8').replace(before!, after!));
}

async function answerTo(query: string, words: readonly string[]): Promise<unknown> {
  const headers = words.map((word) => word.split('=') as [string, string]);
  const response = await fetch(upPrinted(/GraphQL +(\S+)/), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'X-Engine-Admin-Secret': upPrinted(/Admin secret +(\S+)/),
      ...Object.fromEntries(
        headers.map(([name, value]) => [name === 'role' ? 'X-Engine-Role' : name, value]),
      ),
    },
    body: JSON.stringify({ query }),
  });
  return response.json();
}

async function untilReady(resources: number): Promise<void> {
  const isReady = `${resources} of ${resources} resources are Ready`;
  await expect.poll(() => printedByUp, { timeout: 60_000 }).toContain(isReady);
  await expect.poll(() => printedByUp, { timeout: 60_000 }).toContain('Ctrl-C stops everything');
}

async function showPicture(name: string): Promise<void> {
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    await TUTORIAL_PICTURES[name]!(page, signInLinkIn(printedByUp));
    if (process.env['PERGOLA_SCREENSHOTS'])
      await page.screenshot(join(import.meta.dirname, `images/${name}.png`));
  } finally {
    await browser.close();
  }
}

test('each picture of the tutorial has a step, and the words of the page', () => {
  expect(pictures().map(({ text }) => text)).toEqual(Object.keys(TUTORIAL_PICTURES));
  expect(TUTORIAL).toContain(GREEN);
});

test(`the tutorial can be followed from the first line to the last${REASON}`, {
  timeout: 300_000,
}, async () => {
  let resources = 0;
  let last = { code: 0, printed: '' };
  const codes: number[] = [];
  for (const [i, { language, text, words }] of steps.entries()) {
    if (language === 'sql' || language === 'yaml') {
      save(text);
      resources += text.split(/^apiVersion:/m).length - 1;
    } else if (language === 'diff') edit(text);
    else if (language === 'sh' && text.startsWith('pergola up')) startUp(text.split(' ').slice(1));
    else if (language === 'sh') {
      last = await run(text);
      codes.push(last.code);
    } else if (language === 'text') expect(last.printed).toBe(text);
    else if (language === 'graphql') {
      await untilReady(resources);
      expect(await answerTo(text, words)).toEqual(JSON.parse(steps[i + 1]!.text));
    } else if (language === 'picture' && HAS_BROWSER) {
      await untilReady(resources);
      await showPicture(text);
    }
  }
  // The tests of the tracker, the copy, and the two commands that stop the pull request.
  expect(codes).toEqual([0, 0, 1, 1]);
});
