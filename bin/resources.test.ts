/** Tests `export --as crs` and `import -o`: the resources they write produce the same metadata when they are applied. */
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { Ajv } from 'ajv';
import { load } from 'js-yaml';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { writeSchemas } from '../crds/json-schemas.ts';
import { run as apply } from '../operator/commands/apply.ts';
import { type EveryKind, startEveryKind } from '../operator/testing/every-kind.ts';
import { EVERY_KIND } from '../testing/examples.ts';
import { run as exportTo } from './export.ts';
import { run as importFrom } from './import.ts';

let world: EveryKind;
let folder: string;
beforeAll(async () => {
  world = await startEveryKind();
  folder = await mkdtemp(join(tmpdir(), 'pergola-resources-'));
}, 180_000);
afterAll(async () => {
  await world?.close();
  await rm(folder, { recursive: true });
});

async function say(command: typeof apply, ...argv: string[]) {
  const said = { out: '', err: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      said[stream === 'stdout' ? 'out' : 'err'] += String(text);
      return true;
    }),
  );
  try {
    return { code: await command(argv), ...said };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

const engine = () => ['--engine', world.engine.url, '--admin-secret', world.engine.adminSecret];
const exported = async () => (await world.engine.admin('export_metadata', {})).body;
async function forget(): Promise<void> {
  await world.engine.admin('clear_metadata', {});
  await world.engine.admin('set_catalog_state', { type: 'operator', state: {} });
}

test('metadata of every kind is unchanged after an export to resources or a directory and back', async () => {
  expect(await say(apply, '-f', EVERY_KIND, ...engine())).toMatchObject({ code: 0, err: '' });
  const before = await exported();
  const [crs, directory, again] = ['crs', 'directory', 'again'].map((name) => join(folder, name));
  expect(await say(exportTo, '-o', crs!, '--as', 'crs', ...engine())).toMatchObject({ code: 0, err: '' });
  expect((await say(exportTo, directory!, ...engine())).code).toBe(0);
  const schemas = join(folder, 'schemas');
  writeSchemas(schemas);
  const argv = ['-d', directory!, '-o', again!, '--schemas', relative(process.cwd(), schemas)];
  expect(await say(importFrom, ...argv)).toMatchObject({ code: 0, err: '' });
  expectNamedSchemas(again!);
  for (const resources of [crs!, again!]) {
    await forget();
    expect(await say(apply, '-f', resources, ...engine())).toMatchObject({ code: 0, err: '' });
    expect(sorted(await exported())).toEqual(sorted(before));
  }
}, 180_000);

test('export does not write to a folder that is not empty', async () => {
  const { code, err } = await say(exportTo, '-o', join(folder, 'crs'), '--as', 'crs', ...engine());
  expect([code, err]).toEqual([1, expect.stringContaining('is not empty; name a new folder')]);
});

/** Expects each resource of a folder to name, from where it is, a schema that accepts it and refuses a misspelt field. */
function expectNamedSchemas(resources: string): void {
  const files = globSync('**/*.yaml', { cwd: resources }).map((file) => join(resources, file));
  const kinds = new Set<string>();
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    const resource = load(text) as { readonly kind: string; readonly spec: object };
    const [, named] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? [];
    expect([file, named !== undefined]).toEqual([file, resource.kind !== 'Secret']);
    if (named === undefined) continue;
    kinds.add(resource.kind);
    const schema = JSON.parse(readFileSync(join(dirname(file), named), 'utf8'));
    const isValid = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    expect([file, isValid(resource), isValid.errors]).toEqual([file, true, null]);
    expect([file, isValid({ ...resource, spec: { ...resource.spec, tabel: 'a' } })]).toEqual([file, false]);
  }
  expect(kinds.size).toBeGreaterThan(10);
}

/** Sorts lists, because the order of objects has no meaning. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted).toSorted((a, b) => (text(a) < text(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, sorted(inner)]));
}

function text(value: unknown): string {
  return JSON.stringify(value);
}
