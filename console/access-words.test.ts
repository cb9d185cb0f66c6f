/** Tests that the words of Access about a cell equal what `explain_access` answers, for random models of the oracle: each role, table and operation. The components
 *  of the page are rendered to text without a browser. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Arena, openArena } from '../engine/oracle/testing/arena.ts';
import { Choices, LARGEST } from '../engine/oracle/testing/choices.ts';
import { metadataRoles, metadataSource } from '../engine/oracle/testing/metadata.ts';
import { makeWorld } from '../engine/oracle/testing/world.ts';
import type { Table } from '../engine/oracle/testing/world-types.ts';
import { startTestEngine, type TestEngine } from '../testing/engine.ts';
import { randomBits } from '../testing/random-bits.ts';
import { inWords } from './page/words.js';

// Its form needs a browser.
vi.mock('./page/why.jsx', () => ({ Why: () => null }));
const { detailsHtml, summaryHtml } = await import('./testing/access-html.jsx');

/** `npm run pages` compares 200. */
const MODELS = Number(process.env['PERGOLA_TEST_MODELS'] ?? 20);
const OPERATIONS = ['select', 'insert', 'update', 'delete'] as const;
const WORLD_NUMBERS = 1600;
const ALWAYS = 'every row';

type Explained = {
  readonly reasons: readonly { readonly kind: string; readonly message: string }[];
  readonly permissions: readonly {
    readonly role: string;
    readonly operation: string;
    readonly filter?: { readonly clause: object };
    readonly check?: { readonly clause: object };
  }[];
};
type Cell = { readonly is_allowed: boolean } & Record<string, unknown>;
type Row = { readonly table: { readonly name: string } } & Readonly<Record<string, Cell | null>>;

let arena: Arena;
let engine: TestEngine;
beforeAll(async () => {
  arena = await openArena();
  engine = await startTestEngine({
    databaseUrl: arena.url,
    experimentalFeatures: ['naming_convention'],
    // The schema is replaced while no request runs.
    sourceCheckInterval: 0,
  });
});
afterAll(async () => {
  await engine?.close();
  await arena?.close();
});

/** Returns the key of a row of the table; undefined when it has none. */
async function keyOf({ name, key }: Table): Promise<object | undefined> {
  const columns = key.map((column) => `"${column.name}"`).join(', ');
  const { rows } = await arena.owner.query(
    `select to_jsonb(x) as key from (select ${columns} from "${name}" limit 1) x`,
  );
  return rows[0]?.key;
}

async function explained(table: Table, role: string, operation: string, about: object): Promise<Explained> {
  const args = { table: table.name, role, operation, ...about };
  return engine.must<Explained>('pg_explain_access', args);
}

/** Returns the titles and texts of the details of one operation, as the page shows them. */
function detailsOf(row: Row, role: string, operation: string): readonly (readonly [string, string])[] {
  const html = detailsHtml(row, role, operation);
  return [...html.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/g)].map(([, title = '', text = '']) => [
    plain(title),
    plain(text),
  ]);
}

function plain(html: string): string {
  const entities: Record<string, string> = {
    '&quot;': '"',
    '&#x27;': "'",
    '&lt;': '<',
    '&gt;': '>',
    '&amp;': '&',
  };
  return html.replaceAll(/<[^>]*>/g, '').replaceAll(/&[#\w]+;/g, (entity) => entities[entity] ?? entity);
}

/** Returns the conditions of the details, except for those that are always true: `explain_access` leaves them out. */
function conditionsIn(details: readonly (readonly [string, string])[]): readonly string[] {
  return details
    .flatMap(([title, text]) => (/^(Rows|Written)(?! at most)/.test(title) && text !== ALWAYS ? [text] : []))
    .sort();
}

async function compareCells(table: Table, key: object, row: Row, role: string): Promise<number> {
  let allowed = 0;
  for (const operation of OPERATIONS) {
    const cell = row[operation] ?? null;
    const where = `${role} ${table.name} ${operation}`;
    const about = operation === 'insert' ? { values: {} } : { key };
    const { reasons, permissions } = await explained(table, role, operation, about);
    const summary = plain(summaryHtml(cell, role === 'admin'));
    const isAllowed = !reasons.some(({ kind }) => kind === 'no_permission');
    expect(!['no', 'refused'].includes(summary), `${where}: ${summary}`).toBe(isAllowed);
    if (!isAllowed || role === 'admin') continue;
    allowed++;
    const details = detailsOf(row, role, operation);
    const own = permissions.filter((permission) => permission.operation === operation);
    const conditions = own.flatMap(({ filter, check }) =>
      [filter, check].filter((each) => each !== undefined),
    );
    const words = conditions.filter((each) => each !== null).map(({ clause }) => inWords(clause));
    expect(conditionsIn(details), where).toEqual(words.filter((text) => text !== ALWAYS).sort());
    const isAlways = conditions.map((each) => each === null || inWords(each.clause) === ALWAYS);
    // A role that inherits reads the rows of each parent.
    const isEveryRow = operation === 'select' ? isAlways.includes(true) : !isAlways.includes(false);
    expect(summary.includes(ALWAYS), `${where}: ${summary}`).toBe(isEveryRow);
    if (operation !== 'select') continue;
    const shown = new Map(details).get('Columns')?.split(', ') ?? [];
    const columns = table.columns.map(({ name }) => name);
    const ofColumns = await explained(table, role, operation, { ...about, columns });
    const refused = ofColumns.reasons.filter(({ kind }) => kind === 'column_not_permitted');
    const granted = table.columns.filter(
      ({ name }) => !refused.some(({ message }) => message.endsWith(`"${name}"`)),
    );
    expect(shown.toSorted(), where).toEqual(granted.map(({ name }) => name).sort());
    expect(summary.startsWith(`${granted.length} column`), `${where}: ${summary}`).toBe(true);
  }
  return allowed;
}

test(`${MODELS} random models: the words of each cell are those of explain_access`, {
  timeout: 600_000,
}, async () => {
  let allowed = 0;
  const next = randomBits(33);
  for (let i = 0; i < MODELS; i++) {
    const world = makeWorld(new Choices(Array.from({ length: WORLD_NUMBERS }, () => next() % (LARGEST + 1))));
    await arena.build(world);
    const parts = { inherited_roles: metadataRoles(world) };
    await engine.admin('clear_metadata', {});
    const source = metadataSource(world);
    const configuration = { connection_info: { database_url: arena.url } };
    const sources = [{ name: 'default', kind: 'postgres', configuration, ...source }];
    const args = { metadata: { version: 3, sources, ...parts }, allow_inconsistent_metadata: true };
    await engine.must('replace_metadata', args, { version: 2 });
    const roles = [...world.roles.map(({ name }) => name), world.heir.name, 'admin'];
    const keys: (readonly [Table, object])[] = [];
    for (const table of world.tables) {
      const key = await keyOf(table);
      if (key) keys.push([table, key]);
    }
    const counts = roles.map(async (role) => {
      const { body: answer } = await engine.admin<{ tables: readonly Row[] }>('get_role_access', { role });
      const rows = new Map(answer.tables.map((row) => [row.table.name, row]));
      return Promise.all(keys.map(([table, key]) => compareCells(table, key, rows.get(table.name)!, role)));
    });
    for (const count of (await Promise.all(counts)).flat()) allowed += count;
  }
  expect(allowed).toBeGreaterThan(MODELS * 10);
});
