/** Generated pages are current, and what is written by hand leaves nothing out. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OPTIONS as ENGINE_OPTIONS } from '../engine/config/options.ts';
import { ERRORS } from '../engine/errors/errors.ts';
import { OPERATION_NAMES } from '../engine/metadata/operations.ts';
import { SCHEMAS_FLAG } from '../operator/folder/schemas.ts';
import { CONDITION_TYPES, REASONS } from '../operator/kinds/reasons.ts';
import { KINDS } from '../operator/kinds.ts';
import { OPTIONS as OPERATOR_OPTIONS } from '../operator/kubernetes/options.ts';
import { PAGES, pathOf } from './generate.ts';

test.each(PAGES)('docs/reference/$file is what its table says; `make generate` writes it', (page) => {
  expect(readFileSync(pathOf(page), 'utf8')).toBe(page.content());
});

test('every error and every operation has its place in the reference', () => {
  const text = PAGES.map((page) => page.content()).join('\n');
  const missing = [...Object.keys(ERRORS), ...OPERATION_NAMES].filter((name) => !text.includes(name));
  expect(missing).toEqual([]);
});

test('every condition type and every reason has a section that says what to do', () => {
  const reference = read('reference/conditions.md');
  const headings = [...reference.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  expect(headings).toEqual([...Object.keys(CONDITION_TYPES), ...Object.keys(REASONS)]);
  const remedies = [...reference.matchAll(/^\*\*What to do:\*\* (.+)$/gm)].map(([, remedy]) => remedy);
  expect(remedies).toEqual(Object.values(REASONS).map(({ remedy }) => remedy));
});

test('the troubleshooting guide says for every reason what to do, with a link to its section', () => {
  const rows = [...read('guides/troubleshooting.md').matchAll(/^\| ([^|]+) \| (.+) \|$/gm)];
  const linked = rows.flatMap(([, action, reasons]) =>
    [...reasons!.matchAll(/\[(\w+)\]\(\.\.\/reference\/conditions\.md#(\w+)\)/g)].map(
      ([, reason, anchor]) => ({
        action,
        reason: reason!,
        anchor,
      }),
    ),
  );
  expect(linked.map(({ reason }) => reason).toSorted()).toEqual(Object.keys(REASONS).toSorted());
  expect(linked.filter(({ reason, anchor }) => anchor !== reason.toLowerCase())).toEqual([]);
  const isIdle = (reason: string) => REASONS[reason as keyof typeof REASONS].remedy === 'Nothing.';
  const idle = linked.filter(({ action }) => action === 'Nothing to do').map(({ reason }) => reason);
  const claimed = Object.keys(REASONS).filter((reason) => isIdle(reason) || reason === 'Paused');
  expect(idle.toSorted()).toEqual(claimed.toSorted());
});

describe('the security guide', () => {
  const guide = read('guides/security.md');

  test('says what writing each kind can do, what it needs of a grant, and who may write it with the chart', () => {
    const rows = [...guide.matchAll(/^\| (\w+) \| .+ \| .+ \| (admin|edit) \|$/gm)].map(([, kind, to]) => [
      kind,
      to,
    ]);
    const given = KINDS.map(({ kind, concerns }) => [kind, concerns === 'engine' ? 'admin' : 'edit']);
    expect(rows.toSorted()).toEqual(given.toSorted());
  });

  test('shows the rights of the operator as the chart has them', () => {
    const rules = read('../charts/pergola/templates/_rules.tpl');
    const [, granted = ''] = /define "pergola\.operatorRules" -}}\n([\s\S]*?)\{\{- end/.exec(rules)!;
    expect(guide).toContain(`\`\`\`yaml\n${granted}\`\`\``);
  });
});

test('every test that the threat model names is there', () => {
  const model = read('security/threat-model.md');
  const scripts = (JSON.parse(read('../package.json')) as { scripts: Record<string, string> }).scripts;
  const named = [...model.matchAll(/`((?:engine|operator|deploy|testing|crds)\/[^`]*|npm run [\w-]+)`/g)].map(
    ([, name]) => name!,
  );
  const isThere = (name: string) =>
    name.startsWith('npm run ')
      ? name.slice('npm run '.length) in scripts
      : existsSync(join(import.meta.dirname, '..', name));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});

test('every flag a guide speaks of is one', () => {
  const flags = [ENGINE_OPTIONS, OPERATOR_OPTIONS, SCHEMAS_FLAG];
  const known = new Set(flags.flatMap(Object.keys));
  const guides = ['security', 'gitops', 'installing', 'troubleshooting', 'limits', 'authentication'];
  const named = guides.flatMap((name) =>
    [...read(`guides/${name}.md`).matchAll(/`--([a-z0-9-]+)/g)].map(([, flag]) => flag!),
  );
  const foreign = ['reset-then-reuse-values', 'take-ownership', 'set'];
  expect(named.filter((flag) => !known.has(flag) && !foreign.includes(flag))).toEqual([]);
});

function read(path: string): string {
  return readFileSync(join(import.meta.dirname, path), 'utf8');
}
