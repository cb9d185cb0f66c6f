/** Tests what `pergola apply` deletes and says, with a real engine: nothing goes because a file is missing, unless --prune allows it. Not here:
 *  what a pass does (pass/reconcile.test.ts), flags that all commands have (plan.test.ts). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { load } from 'js-yaml';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runCommand } from '../../testing/output.ts';
import { testWorld } from '../../testing/world.ts';
import { run as apply } from './apply.ts';

const TABLES = 25;
const named = (i: number) => `note_${i}`;

let folder: string;

const at = (name: string) => join(folder, name);
const table = (name: string, more = '') => `apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: {name: ${name.replaceAll('_', '-')}}
spec:
  table: ${name}
${more}---
`;
const READER = '  permissions: [{role: reader, select: {columns: [id], filter: {}}}]\n';

afterAll(() => rm(folder, { recursive: true }));

const { engine } = testWorld(async (database) => {
  const tables = Array.from({ length: TABLES }, (_, i) => `create table ${named(i)} (id int primary key);`);
  await database.sql(tables.join('\n'));
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pergola-apply-'));
  await writeFile(at('one.yaml'), table(named(0), READER));
  await writeFile(at('one-without-reader.yaml'), table(named(0)));
  await writeFile(at('two.yaml'), table(named(1)));
  await writeFile(
    at('rest.yaml'),
    Array.from({ length: TABLES - 2 }, (_, i) => table(named(i + 2))).join(''),
  );
});
beforeEach(async () => {
  expect(await say('one.yaml', 'two.yaml')).toMatchObject({ code: 0, err: '' });
});

async function say(...given: readonly string[]) {
  const inputs = given.filter((one) => one.endsWith('.yaml')).flatMap((name) => ['-f', at(name)]);
  const flags = given.filter((one) => !one.endsWith('.yaml'));
  const address = ['--engine', engine.url, '--admin-secret', engine.adminSecret];
  const said = await runCommand(apply, [...inputs, ...flags, ...address]);
  return { ...said, out: stripVTControlCharacters(said.out), err: stripVTControlCharacters(said.err) };
}

async function tracked(): Promise<readonly string[]> {
  const { body } = await engine.admin<{ sources: { tables: { table: { name: string } }[] }[] }>(
    'export_metadata',
    {},
  );
  return body.sources[0]!.tables.map((one) => one.table.name).toSorted();
}

const LEFT = `? table default/public/note_1  Table default/note-1
These belong to resources that the inputs no longer contain, and are left as they are. To delete them: --prune
`;

test('what belongs to resources that are missing is listed and left, however often', async () => {
  for (let time = 0; time < 2; time++) {
    const { code, out, err } = await say('one.yaml');
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(LEFT);
    expect(await tracked()).toEqual(['note_0', 'note_1']);
  }
});

test('--prune deletes it, and says so', async () => {
  const { code, out } = await say('one.yaml', '--prune');
  expect(code).toBe(0);
  expect(out).toContain(
    '- table default/public/note_1  Table default/note-1 (deleted, or no longer defines it)\n',
  );
  expect(out).not.toContain('?');
  expect(await tracked()).toEqual(['note_0']);
  expect((await say('one.yaml', '--prune')).out).not.toContain('note_1');
});

test('what a resource no longer defines is deleted without --prune', async () => {
  const { code, out } = await say('one-without-reader.yaml', 'two.yaml');
  expect(code).toBe(0);
  expect(out).toMatch(/^- .*note_0.*reader.*\(deleted, or no longer defines it\)$/m);
  const { errors } = await engine.graphql('{ note_0 { id } }', { role: 'reader' });
  expect(errors).toHaveLength(1);
});

test('many deletions are held back with --prune, too; their hash confirms them without it', async () => {
  await say('one.yaml', 'two.yaml', 'rest.yaml');
  const held = await say('one.yaml', '--prune');
  expect([held.code, (await tracked()).length]).toEqual([1, TABLES]);
  const hash = /confirm-prune[: =]*"?([0-9a-f]{6,})/.exec(held.err)?.[1];
  const confirmed = await say('one.yaml', '--confirm-prune', `${hash}`);
  expect([confirmed.code, await tracked()]).toEqual([0, ['note_0']]);
});

test.each(['json', 'yaml', 'markdown'])('-o %s has what was deleted and what is left', async (format) => {
  const read = ({ out }: { readonly out: string }) => (format === 'markdown' ? out : load(out));
  const left = read(await say('one.yaml', '-o', format));
  const deleted = read(await say('one.yaml', '--prune', '-o', format));
  if (format === 'markdown') {
    expect(left).toContain('**Left as it is**\n\n- table default/public/note');
    expect(deleted).toContain('**Deleted**\n\n- table default/public/note');
  } else {
    const object = { key: expect.stringContaining('note_1'), resource: 'Table default/note-1' };
    expect(left).toMatchObject({ deleted: [], abandoned: [object] });
    expect(deleted).toMatchObject({ deleted: [object], abandoned: [] });
  }
});
