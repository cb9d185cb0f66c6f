/** Tests `pergola compat` on metadata directories: each object is in the report, nothing is dropped in silence, and the exit code says it.
 *  Not here: running engines (compat-engines.test.ts). */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { dump } from 'js-yaml';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isRecord } from '../engine/json/value.ts';
import { OBJECT_KINDS, objectsOf } from '../engine/metadata/objects.ts';
import { parseDocument } from '../engine/metadata/parse.ts';
import { rawDirectory } from '../engine/metadata/read-directory.ts';
import { Metadata } from '../engine/metadata/schema/metadata.ts';
import { asJsonSchema, type JsonSchema } from '../engine/metadata/walk-schema.ts';
import { FULL } from '../testing/metadata-variants.ts';
import { runCommand } from '../testing/output.ts';
import type { CompatReport } from './compat/report.ts';
import { run } from './compat.ts';
import { FOLDERS, UNSERVED, writeFolder } from './testing/compat-folders.ts';

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'pergola-compat-')), 'metadata');
});
afterEach(() => rmSync(dirname(folder), { recursive: true }));

const OURS = ['--from-header-prefix', 'x-engine-', '--compatibility', 'reference'];

async function reportOn(files: Readonly<Record<string, string>>, ...flags: readonly string[]) {
  writeFolder(folder, files);
  const { code, out, err } = await runCommand(run, [folder, '-o', 'json', ...flags]);
  expect(err).toBe('');
  return { code, report: JSON.parse(out) as CompatReport };
}

const verdicts = ({ metadata }: CompatReport) =>
  Object.fromEntries(
    metadata.filter(({ verdict }) => verdict !== 'same').map((one) => [one.object, one.verdict]),
  );
const messages = ({ metadata }: CompatReport, object: string) =>
  metadata
    .find((one) => one.object === object)
    ?.findings.map(({ position, message }) => `${position}: ${message}`);

describe('every object of a directory is in the report', () => {
  test.each(Object.entries(FOLDERS))('%s', async (name, files) => {
    const { report } = await reportOn(files, ...OURS);
    const { document } = rawDirectory((file) => files[file]);
    const wanted = name === 'unserved' ? [] : [...objectsOf(parseDocument(document)).keys()];
    expect(report.metadata.map(({ object }) => object)).toEqual(expect.arrayContaining(wanted));
  });

  test('the directory with every object has each kind', () => {
    const kinds = new Set([...objectsOf(parseDocument(FULL)).values()].map(({ kind }) => kind));
    expect(OBJECT_KINDS.filter((kind) => !kinds.has(kind))).toEqual([]);
  });
});

describe('a key that the model does not have is named', () => {
  const planted = Object.entries(FOLDERS).filter(([name]) => name !== 'unserved');

  /** Adds a key to each map of a document, except where any key is meant as a name or as content. */
  function withKeys(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(withKeys);
    if (!isRecord(value)) return value;
    return Object.fromEntries([
      ...Object.entries(value).map(([key, item]) => [key, withKeys(item)]),
      ['zz_more', null],
    ]);
  }

  test.each(planted)('in every object of %s', async (_name, files) => {
    const { document } = rawDirectory((file) => files[file]);
    const { sources, ...rest } = withKeys(document) as { sources: unknown };
    const { actions: _, custom_types: __, zz_more: ___, ...others } = rest as Record<string, unknown>;
    const more: Record<string, string> = {
      'version.yaml': 'version: 3\n',
      'databases/databases.yaml': dump(sources, { noRefs: true }),
    };
    const names: Readonly<Record<string, string>> = { allowlist: 'allow_list' };
    for (const [key, value] of Object.entries(others)) {
      if (key !== 'version') more[`${names[key] ?? key}.yaml`] = dump(value, { noRefs: true });
    }
    const { report } = await reportOn(more, ...OURS);
    const named = new Set(
      report.metadata
        .filter(({ findings }) =>
          findings.some(({ message, position }) => `${position}${message}`.includes('zz_more')),
        )
        .map(({ object }) => object),
    );
    const { document: given } = rawDirectory((file) => more[file]);
    // Maps whose keys are names or content take the key as one.
    const open = /^backend_configs/;
    const objects = report.metadata.map(({ object }) => object).filter((object) => object.includes('/'));
    expect(given).toBeDefined();
    expect(objects.filter((object) => !named.has(object) && !open.test(object))).toEqual([]);
  });
});

test('a directory of the reference that is served the same has the exit code 0', async () => {
  const { code, report } = await reportOn(FOLDERS['blog']!, ...OURS);
  expect(verdicts(report)).toEqual({});
  expect(report.options).toEqual([]);
  expect(code).toBe(0);
});

test('what is not served has no effect, with its reason and position', async () => {
  const { code, report } = await reportOn(UNSERVED);
  expect(code).toBe(1);
  const note = 'table/default/public/note';
  const user = 'select_permission/default/public/note/user';
  expect(verdicts(report)).toEqual({
    'source/default': 'no effect',
    'source/legacy': 'no effect',
    'source/store': 'no effect',
    [note]: 'no effect',
    [user]: 'differs',
    'select_permission/default/public/tag/user': 'differs',
    'remote_schema/countries': 'differs',
    metrics_config: 'no effect',
    backend_configs: 'no effect',
    'version.yaml': 'no effect',
    'databases/default/tables/notes.txt': 'no effect',
  });
  expect(messages(report, 'source/legacy')).toEqual([
    ': sources of the kind "mssql" are not supported; its settings and 2 tables are kept in the metadata and are not served',
  ]);
  expect(messages(report, 'source/default')).toEqual([
    expect.stringContaining('stored_procedures are kept'),
    expect.stringContaining('query_tags.omit_request_id: false has no effect'),
  ]);
  expect(messages(report, note)).toEqual([
    'databases/default/tables/public_note.yaml: $.logical_model: the key is unknown and is left out',
  ]);
  expect(messages(report, user)).toEqual([
    expect.stringContaining('it names session variables x-hasura-*'),
    'databases/default/tables/public_note.yaml: $.select_permissions[0].permission.masks: the key is unknown and is left out',
  ]);
  expect(messages(report, 'select_permission/default/public/tag/user')).toEqual([
    expect.stringContaining('it cannot be read: $.permission.columns: '),
  ]);
  expect(report.options.map(({ option }) => option)).toContain('header-prefix');
});

test('with the prefix and the switch of the reference, session variables and options do not differ', async () => {
  const { report } = await reportOn(UNSERVED, '--header-prefix', 'x-hasura-', '--compatibility', 'reference');
  expect(report.options).toEqual([]);
  expect(verdicts(report)['select_permission/default/public/note/guest']).toBeUndefined();
  expect(verdicts(report)['remote_schema/countries']).toBeUndefined();
  expect(messages(report, 'select_permission/default/public/note/user')).toHaveLength(1);
});

test('accepted objects do not count', async () => {
  writeFolder(folder, { ...FOLDERS['blog']!, 'metrics_config.yaml': 'analyze_query_variables: true\n' });
  expect((await runCommand(run, [folder, ...OURS])).code).toBe(1);
  const { code, out } = await runCommand(run, [folder, ...OURS, '--accept', 'metrics_config']);
  expect(out).toContain('accepted   metrics_config\n');
  expect(code).toBe(0);
});

test('the text has the counts, and each object that is not the same', async () => {
  writeFolder(folder, UNSERVED);
  const { out } = await runCommand(run, [folder]);
  expect(out).toMatch(/^Metadata: \d+ objects: 2 the same, 3 different, 8 without effect\n/);
  expect(out).toContain('\n  no effect  source/legacy\n             sources of the kind "mssql"');
  const guide = readFileSync(join(import.meta.dirname, '../docs/guides/coming-from-hasura.md'), 'utf8');
  const [, shown = ''] = /```text\n([\s\S]*?)```/.exec(guide) ?? [];
  expect(shown.split('\n').filter((line) => !out.includes(line))).toEqual([]);
  expect(out).toContain('\nOptions: these defaults of the engine differ\n  headers and session');
});

test('a file with exported metadata is read, as the console and the admin API export them', async () => {
  const { document } = rawDirectory((file) => FOLDERS['blog']![file]);
  const file = `${folder}.json`;
  for (const content of [document, { resource_version: 3, metadata: document }]) {
    writeFileSync(file, JSON.stringify(content));
    expect((await runCommand(run, [file, ...OURS])).code).toBe(0);
  }
  writeFileSync(file, '[]');
  const { code, err } = await runCommand(run, [file]);
  expect([code, err]).toEqual([2, expect.stringContaining('has no metadata')]);
});

test('connections that the reference counts over all replicas differ', async () => {
  const databases = FOLDERS['blog']!['databases/databases.yaml']!;
  const pool = databases.replace(
    'max_connections: 50',
    'max_connections: 50\n        total_max_connections: 90',
  );
  const { report } = await reportOn({ ...FOLDERS['blog']!, 'databases/databases.yaml': pool }, ...OURS);
  expect(verdicts(report)).toEqual({ 'source/default': 'differs' });
});

test('each member of the model is read by code of the engine, or named as one without effect', () => {
  const members = new Set<string>();
  const visit = (schema: JsonSchema): void => {
    const { properties = {}, patternProperties = {}, items, anyOf = [] } = schema;
    for (const name of Object.keys(properties)) members.add(name);
    const inner = [...Object.values(properties), ...Object.values(patternProperties), ...anyOf];
    for (const one of [...inner, ...(items ? [items] : [])]) visit(one);
  };
  visit(asJsonSchema(Metadata));
  const files = execFileSync('git', ['ls-files', 'engine/*.ts'], { encoding: 'utf8' }).trimEnd().split('\n');
  const code = files
    .filter((file) => !/^engine\/(metadata|oracle|rules|bench)\/|\.test\.ts$|\/testing\//.test(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const unread = [...members].filter((name) => !new RegExp(`\\b${name}\\b`).test(code));
  // References are found by their marks, and template_engine has one value.
  const others = unread.filter((name) => !/_from_(value|file)$/.test(name) && name !== 'template_engine');
  expect(others.toSorted()).toEqual(['backend_configs', 'stored_procedures']);
});

test('what cannot be compared has the exit code 2', async () => {
  const missing = await runCommand(run, [join(folder, 'nowhere')]);
  expect([missing.code, missing.err]).toEqual([
    2,
    expect.stringContaining('pergola compat: there is no folder'),
  ]);
  for (const argv of [
    [],
    ['a', 'b'],
    ['a', '--replay', 'x'],
    ['a', '--mutations'],
    ['a', '--wait', '5'],
    ['--from', 'http://a', '--engine', 'http://b', '--replay', 'x', '--wait', 'long'],
    ['--from', 'x'],
    ['a', '--nope'],
  ]) {
    expect([argv, (await runCommand(run, argv)).code]).toEqual([argv, 2]);
  }
  const closed = await runCommand(run, ['--from', 'http://127.0.0.1:2']);
  expect([closed.code, closed.err]).toEqual([2, expect.stringContaining('does not answer')]);
  expect((await runCommand(run, ['--help'])).code).toBe(0);
});
