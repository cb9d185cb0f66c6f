/** Tests how guides begin and what they have: a guide begins with an example, a guide to something that is declared has the resource, the admin
 *  operation and the request, and each operation that documents show can be parsed. Not here: resources (guides.test.ts), and running the guides
 *  (operator/end-to-end/guides.test.ts). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { findOperation, parseArgs } from '../engine/metadata/index.ts';
import { blocksOf } from '../operator/testing/guide.ts';
import { ENDPOINTS, operationsIn } from './testing/operations.ts';

const GUIDES = join(import.meta.dirname, 'guides');

/** The reasons why a guide shows no object of the metadata. */
const PROSE = 'it explains, compares or looks up';
const COMMANDS = 'it is about commands, files or a running system';
const NOTHING = 'nothing is declared for it';
const OTHERS: Readonly<Record<string, string>> = {
  'arrays.md': NOTHING,
  'authentication.md': 'tokens and hooks are options of the engine',
  'clients.md': PROSE,
  'coming-from-hasura.md': COMMANDS,
  'comparison.md': PROSE,
  'concepts.md': PROSE,
  'console.md': COMMANDS,
  'databases.md': PROSE,
  'existing-database.md': COMMANDS,
  'first-api.md': 'a first example; the operation is in permissions.md',
  'first-product.md': 'a tutorial; it declares resources only',
  'gitops.md': COMMANDS,
  'grouping.md': NOTHING,
  'inserting.md': NOTHING,
  'installing.md': COMMANDS,
  'metadata.md': 'the whole document, through the admin API',
  'migrations.md': 'the admin API has no operation for migrations',
  'more-than-one-machine.md': COMMANDS,
  'operating.md': COMMANDS,
  'permissions-cookbook.md': 'recipes; the operation is in permissions.md',
  'production.md': COMMANDS,
  'relay.md': NOTHING,
  'releasing.md': COMMANDS,
  'reviewing-changes.md': COMMANDS,
  'rows.md': 'operations on rows only',
  'secrets.md': 'a value is in no answer',
  'security.md': PROSE,
  'signing-in.md': 'tokens are an option of the engine',
  'subscriptions.md': NOTHING,
  'tenants.md': 'grants are for resources only',
  'testing-permissions.md': 'tests are resources and files only',
  'troubleshooting.md': PROSE,
  'updating.md': NOTHING,
  'upgrading.md': COMMANDS,
};
/** Guides whose example comes late or never: the comparison says first what the product is. */
const WITHOUT_EXAMPLE_FIRST = ['comparison.md'];
/** The lines before which the first example begins: a title and two paragraphs. */
const FIRST_LINES = 30;

const guides = readdirSync(GUIDES).filter((file) => file.endsWith('.md'));
const blocksIn = (guide: string) => blocksOf(readFileSync(join(GUIDES, guide), 'utf8'));
const declared = guides.filter((guide) => !(guide in OTHERS));

test('each exception is a guide', () => {
  expect(Object.keys(OTHERS).filter((guide) => !guides.includes(guide))).toEqual([]);
});

test.each(guides.filter((guide) => !WITHOUT_EXAMPLE_FIRST.includes(guide)))(
  '%s begins with an example',
  (guide) => {
    expect(blocksIn(guide)[0]?.line).toBeLessThan(FIRST_LINES);
  },
);

describe.each(declared)('%s', (guide) => {
  const blocks = blocksIn(guide);
  const has = (isPart: (block: (typeof blocks)[number]) => boolean) => blocks.some(isPart);

  test('has the resource, the admin operation and the request', () => {
    const parts = {
      resource: has(({ language, text }) => language === 'yaml' && text.includes('apiVersion: pergola.dev/')),
      operation: has(({ text }) => /"type": *"\w+"/.test(text)),
      request: has(({ language, text }) => language === 'graphql' || /\/api\/rest\//.test(text)),
    };
    expect(parts).toEqual({ resource: true, operation: true, request: true });
  });
});

test.each(guides)('%s shows requests and operations that can be parsed', (guide) => {
  const blocks = blocksIn(guide);
  const problems = blocks.flatMap(({ language, text, line }) => [
    ...(language === 'graphql' ? problemOf(() => parse(text), line) : []),
    ...operationsIn(text).flatMap((operation) => problemOf(() => parseOperation(operation), line)),
  ]);
  expect(problems).toEqual([]);
});

function parseOperation(text: string): void {
  const { type, args } = JSON.parse(text) as { type: string; args: unknown };
  const [operation] = ENDPOINTS.flatMap((endpoint) =>
    [2, 1].map((version) => findOperation(type, version, endpoint)),
  ).filter((found) => found !== undefined);
  if (operation === undefined) throw new Error(`there is no operation ${type}`);
  parseArgs(operation.name, args);
}

function problemOf(check: () => unknown, line: number): readonly string[] {
  try {
    check();
    return [];
  } catch (error) {
    return [`line ${line}: ${(error as Error).message}`];
  }
}
