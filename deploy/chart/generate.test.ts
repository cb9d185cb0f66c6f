/** Checks that the committed files are the ones that the tables generate. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { OPTIONS } from '../../engine/config/options.ts';
import { generatedFiles } from './generate.ts';
import { valueRows, valuesSchema } from './print.ts';
import { VALUES } from './values.ts';

const ROOT = dirname(dirname(import.meta.dirname));

test.each([...generatedFiles()])('%s is what its table says; `make generate` writes it', (file, content) => {
  expect(readFileSync(join(ROOT, file), 'utf8')).toBe(content);
});

test('options are values with the bounds of their rows, and secrets only as keys of secrets', () => {
  const { engine } = JSON.parse(valuesSchema(VALUES)).properties;
  const { options, secretOptions } = engine.properties;
  expect(options.properties['pg-connections']).toEqual({
    type: ['integer', 'null'],
    minimum: 1,
    maximum: 10_000,
  });
  expect(options.properties['log-level']).toEqual({ enum: ['debug', 'info', 'warn', 'error', null] });
  expect(options.properties['jwt-secret']).toBeUndefined();
  expect(secretOptions.properties['jwt-secret'].required).toEqual(['existingSecret', 'key']);
});

test('every value is described', () => {
  expect(valueRows(VALUES).filter(({ doc }) => doc === '')).toEqual([]);
});

test('the guide builds and installs the version of the chart', () => {
  const chart = readFileSync(join(ROOT, 'charts/pergola/Chart.yaml'), 'utf8');
  const [, version] = /^appVersion: (.+)$/m.exec(chart)!;
  const guide = readFileSync(join(ROOT, 'docs/guides/installing.md'), 'utf8');
  expect(guide).toContain(
    `docker build -t $IMAGE:${version} -f deploy/Dockerfile . && docker push $IMAGE:${version}`,
  );
  expect(guide).toContain('--set image.repository=$IMAGE');
});

test('every option can be set, or is set by the chart itself', () => {
  const { engine } = JSON.parse(valuesSchema(VALUES)).properties;
  const { options, secretOptions } = engine.properties;
  const settable = [...Object.keys(options.properties), ...Object.keys(secretOptions.properties)];
  expect(Object.keys(OPTIONS).filter((name) => !settable.includes(name))).toEqual([
    'database-url',
    'metadata-database-url',
    'values-key-file',
    'server-port',
    'server-host',
    'admin-secret',
    'admin-secret-path',
    'console-secret',
    'console-secret-path',
    'enable-console',
    'metrics-secret',
  ]);
});
