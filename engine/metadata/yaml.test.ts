/** YAML, and every number of JSON through it and through a whole document. */
import '../../testing/seed.ts';
import { assert, bigInt, constantFrom, double, jsonValue, nat, oneof, property, tuple } from 'fast-check';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { parseJson } from '../json/parse-json.ts';
import { toDirectory } from './directory.ts';
import { exportMetadata } from './export.ts';
import { parseMetadata } from './parse.ts';
import { fromDirectory } from './read-directory.ts';
import { printYaml, YAML_SCHEMA } from './yaml.ts';

const digits = bigInt({ min: -(10n ** 40n), max: 10n ** 40n }).map(String);
const fraction = nat(10 ** 6).map((n) => `.${n}`);
const exponent = tuple(constantFrom('e', 'E', 'e+', 'e-', 'E-'), nat(500)).map((parts) => parts.join(''));
const none = constantFrom('');
const number = oneof(
  double({ noNaN: true, noDefaultInfinity: true }).map(String),
  tuple(digits, oneof(none, fraction), oneof(none, exponent)).map((parts) => parts.join('')),
  constantFrom('-0', '0.0', '1.0', '1e3', '-0.00', '1E400', '9007199254740993'),
);

const reread = (value: unknown) => load(printYaml(value), { schema: YAML_SCHEMA });

test('any number of JSON comes back from YAML as it was written', () => {
  assert(
    property(number, (text) => {
      expect(JSON.stringify(reread([parseJson(text), { n: parseJson(text) }, text]))).toBe(
        `[${text},{"n":${text}},${JSON.stringify(text)}]`,
      );
    }),
  );
});

test('any JSON comes back from YAML', () => {
  assert(
    property(jsonValue(), (value) => {
      expect(JSON.stringify(reread(value))).toBe(JSON.stringify(value));
    }),
  );
});

test('what only YAML writes so is what it comes to', () => {
  expect(load('[0x1F, .5, +1, 1_000, 0o17]', { schema: YAML_SCHEMA })).toEqual([31, 0.5, 1, '1_000', 15]);
});

/** The number in every place of a document that takes any JSON. */
const documentWith = (text: string) => `{
  "version": 3,
  "sources": [{"name": "default", "kind": "postgres",
    "configuration": {"connection_info": {"database_url": {"from_env": "URL"}}},
    "tables": [{"table": "account",
      "insert_permissions": [
        {"role": "user", "permission": {"columns": "*", "check": {"balance": {"_gte": ${text}}}, "set": {"balance": ${text}}}}],
      "select_permissions": [
        {"role": "user", "permission": {"columns": "*", "filter": {"_or": [{"balance": {"_in": [${text}]}}, {"data": {"_eq": {"n": ${text}}}}]}}}],
      "remote_relationships": [{"name": "rates", "definition": {"to_remote_schema": {
        "remote_schema": "bank", "lhs_fields": ["id"], "remote_field": {"rates": {"arguments": {"least": ${text}}}}}}}]}]}],
  "cron_triggers": [{"name": "daily", "webhook": "http://w", "schedule": "0 0 * * *", "include_in_metadata": true,
    "payload": {"deep": [${text}]}}]
}`;

test('any number survives replacing, exporting, the directory and replacing again', () => {
  assert(
    property(number, (text) => {
      const exported = JSON.stringify(exportMetadata(parseMetadata(parseJson(documentWith(text)))));
      const written = `${text}`.replaceAll(/[.+]/g, String.raw`\$&`);
      expect(exported.match(new RegExp(`[:[]${written}[\\]}]`, 'g'))).toHaveLength(6);
      const files = toDirectory(parseMetadata(parseJson(exported)));
      const { metadata } = fromDirectory((file) => files.get(file));
      expect(JSON.stringify(exportMetadata(metadata))).toBe(exported);
    }),
    { numRuns: 50 },
  );
});

test('numbers the engine counts with are numbers, however they are written', () => {
  const document = (retries: string) =>
    `{"version": 3.0, "sources": [], "cron_triggers": [{"name": "daily", "webhook": "http://w", "schedule": "0 0 * * *",
      "include_in_metadata": true, "retry_conf": {"num_retries": ${retries}}}]}`;
  const { cron_triggers: triggers } = parseMetadata(parseJson(document('3.0')));
  expect(triggers?.[0]?.retry_conf?.num_retries).toBe(3);
  expect(() => parseMetadata(parseJson(document('3.5')))).toThrow('expected an integer, but encountered 3.5');
});
