/** Executes the guides that bring their own tables: their SQL runs, their resources become Ready, and their requests have the responses
 *  they show. Each guide has a database and an engine of its own.
 *  Not here: finding the parts of a guide (../testing/guide.ts), resources that are only shown (docs/guides.test.ts). */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { applied } from '../testing/applied.ts';
import { type GuideRequest, guideParts } from '../testing/guide.ts';

const GUIDES = join(import.meta.dirname, '../../docs/guides');
const executable = readdirSync(GUIDES).filter((file) => {
  const kinds = guideParts(join(GUIDES, file)).map(({ kind }) => kind);
  return kinds.includes('resources') && kinds.includes('request');
});

test('the cookbook and the product are among the guides that are executed', () => {
  expect(executable).toEqual(expect.arrayContaining(['first-product.md', 'permissions-cookbook.md']));
});

test.each(executable)('%s can be followed', async (file) => {
  const database = await createDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'pergola-guide-'));
  const engine = await startTestEngine({ databaseUrl: database.url, env: variablesIn(file) });
  try {
    const parts = guideParts(join(GUIDES, file));
    for (const [i, part] of parts.entries()) {
      const at = `${file}:${part.line}`;
      if (part.kind === 'sql') await database.sql(part.text);
      else if (part.kind === 'resources') {
        writeFileSync(join(folder, `${String(part.line).padStart(5, '0')}.yaml`), part.text);
        // Resources may need those of the next block when nothing comes between.
        if (parts[i + 1]?.kind === 'resources') continue;
        expect({ at, problems: await applied(folder, engine) }).toEqual({ at, problems: [] });
      } else expect({ at, answer: await answered(engine, part) }).toEqual({ at, answer: part.response });
    }
  } finally {
    await engine.close();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Returns the response, or null when the guide shows none and the response has no errors. */
async function answered(
  engine: TestEngine,
  { text, role, headers, response }: GuideRequest,
): Promise<unknown> {
  const answer = await engine.graphql(text, { role, headers });
  return response === null && answer.errors === undefined ? null : answer;
}

/** Gives the variables of the engine that the resources of a guide name a value. Nothing listens there. */
function variablesIn(file: string): Readonly<Record<string, string>> {
  const text = readFileSync(join(GUIDES, file), 'utf8');
  const names = [...text.matchAll(/\{\{([A-Z_]+)\}\}|env: ([A-Z_]+)/g)].map(
    ([, first, second]) => first ?? second!,
  );
  return Object.fromEntries(names.map((name) => [name, 'http://127.0.0.1:9']));
}
