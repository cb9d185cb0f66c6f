/** Declares the tests of worlds: a describe for each document, a test for each block, in the order of the document.
 *  Not here: running a block (shell.ts). */
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { version } from '../../deploy/release/version.ts';
import { findProgram } from '../../testing/helm.ts';
import {
  type Place,
  type Row,
  type ShellWorld,
  type Surroundings,
  startPlace,
  WHAT_FOLLOWS,
} from './shell.ts';
import { type ShellBlock, shellBlocks } from './shell-blocks.ts';
import { startTokenIssuer, type TokenIssuer } from './token-issuer.ts';

type Worlds = Readonly<Record<string, ShellWorld>>;
type More = (document: string) => Promise<Partial<Surroundings>>;

/** Declares the tests of all documents. `more` returns what a document needs besides its world, and is called before its first block. */
export function followDocuments(worlds: Worlds, more: More = async () => ({})): void {
  let issuer: TokenIssuer;
  beforeAll(async () => {
    issuer = await startTokenIssuer();
  });
  afterAll(() => issuer?.close());
  const blocks = shellBlocks();
  describe.each(Object.keys(worlds))('%s', (document) => {
    const world = worlds[document]!;
    let place: Place;
    beforeAll(async () => {
      const { values, env, texts = {}, path = [] } = await more(document);
      place = await startPlace(document, world, {
        values: { ...values, keys: issuer.keys, publicKey: issuer.publicKey, version: version() },
        texts,
        env: { ...env, TOKEN: issuer.token },
        path: [...path, dirname(process.execPath)],
      });
      await place.setUp();
    });
    afterAll(() => place?.close());
    const rows = world.rows.map((row) => ({ row, block: blockOf(document, row, blocks) }));
    for (const { row, block } of rows.toSorted((a, b) => a.block.line - b.block.line)) {
      const missing = (row.needs ?? []).filter((program) => findProgram(program) === undefined);
      const isSkipped = missing.length > 0 && process.env['CI'] !== 'true';
      const reason = isSkipped ? ` (skipped: no ${missing.join(', ')})` : '';
      test.skipIf(isSkipped)(`line ${block.line}: ${row.begins}${reason}`, async () => {
        const { code, printed } = await place.run(block, row);
        expect({ code, printed: printed.trim() }).toEqual({
          code: row.code ?? 0,
          printed: expectedOf(row, block),
        });
        // GraphQL has errors with status 200.
        expect(printed).not.toContain('{"errors":');
      });
    }
  });
}

const blockOf = (document: string, row: Row, blocks: readonly ShellBlock[]) =>
  blocks.find((block) => block.document === document && block.text.startsWith(row.begins))!;

function expectedOf({ prints }: Row, { shown }: ShellBlock): unknown {
  if (prints === WHAT_FOLLOWS) return shown;
  return typeof prints === 'string' ? expect.stringContaining(prints) : expect.stringMatching(prints);
}
