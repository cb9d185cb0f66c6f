/** Runs the shell blocks of the documents that need no cluster, in the order of each document, in one folder, and compares what they print. Also tests
 *  that each shell block of the documents runs in a test, or is listed with the reason (testing/not-run.ts).
 *  Not here: blocks for an API server (shell.kube.test.ts), the commands and flags of all blocks (commands.test.ts). */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { version } from '../deploy/release/version.ts';
import { CLUSTER_WORLDS } from './testing/cluster-worlds.ts';
import { NOT_RUN, type NotRun } from './testing/not-run.ts';
import { CLONE, type ShellBlock, shellBlocks } from './testing/shell-blocks.ts';
import { followDocuments } from './testing/shell-steps.ts';
import { SHELL_WORLDS } from './testing/shell-worlds.ts';

const blocks = shellBlocks();
const worlds = [...Object.entries(SHELL_WORLDS), ...Object.entries(CLUSTER_WORLDS)];
const rows = worlds.flatMap(([document, world]) => world.rows.map((row) => ({ document, ...row })));

const TABLES = 'docs/testing/{shell-worlds,cluster-worlds,not-run}.ts';

type Begin = { readonly document: string; readonly begins: string };
const isOf =
  ({ document, begins }: Begin) =>
  (block: ShellBlock) =>
    block.document === document && block.text.startsWith(begins);
const named = ({ document, begins }: Begin) => `${document}: ${begins}`;

describe('each shell block of a document', () => {
  test('runs once, or is listed once', () => {
    expect(blocks.length).toBeGreaterThan(100);
    const wrong = blocks.flatMap((block) => {
      const found = [...rows, ...NOT_RUN].filter((one) => isOf(one)(block));
      return found.length === 1
        ? []
        : [
            `${block.document}:${block.line} has ${found.length} rows in ${TABLES}: ${block.text.slice(0, 60)}`,
          ];
    });
    expect(wrong).toEqual([]);
  });

  test('is the only one that a row stands for, and each entry of the list stands for one or more', () => {
    expect(rows.filter((row) => blocks.filter(isOf(row)).length !== 1).map(named)).toEqual([]);
    expect(NOT_RUN.filter((entry) => !blocks.some(isOf(entry))).map(named)).toEqual([]);
  });

  test('is in a document that has each text which its world replaces', () => {
    const unused = worlds.flatMap(([document, { texts = {} }]) => {
      const all = readFileSync(join(CLONE, document), 'utf8');
      return Object.keys(texts)
        .filter((text) => !all.includes(text.replace('{version}', version())))
        .map((text) => `${document}: ${text}`);
    });
    expect(unused).toEqual([]);
  });

  test('is run by a test that reads its document, if the list says so', () => {
    expect(NOT_RUN.filter((entry) => !isTrue(entry)).map(named)).toEqual([]);
  });
});

/** True when the test that an entry names reads the document, or the other document has the same block, which runs. */
function isTrue(entry: NotRun): boolean {
  if (entry.reason === 'another test runs it') {
    const file = join(CLONE, entry.test);
    return existsSync(file) && readFileSync(file, 'utf8').includes(basename(entry.document));
  }
  if (entry.reason !== 'another document has the same text') return true;
  const { text } = blocks.find(isOf(entry))!;
  const same = blocks.find((block) => block.document === entry.as && block.text === text);
  return same !== undefined && rows.some((row) => isOf(row)(same));
}

followDocuments(SHELL_WORLDS);
