/** Tests the tree of an expression: its parts with their paths, and what is no expression. */
import { expect, test } from 'vitest';
import { type BoolExpPart, comparisonsOf, parseBoolExp, partBehind } from './bool-exp.ts';

/** Returns a tree as text: each part with the path from the part around it. */
function printed(part: BoolExpPart): string {
  const { kind, steps } = part;
  const at = `${kind}@${steps.join('.')}`;
  switch (kind) {
    case 'all':
    case 'any':
      return `${at}[${part.parts.map(printed).join(' ')}]`;
    case 'not':
      return `${at}[${printed(part.part)}]`;
    case 'exists':
      return `${at}[${JSON.stringify(part.table)} ${printed(part.where)}]`;
    default:
      return at;
  }
}

test.each([
  ['no condition', {}, 'all@[]'],
  ['one entry', { a: 1 }, 'field@a'],
  ['several entries', { a: 1, b: 2 }, 'all@[field@a field@b]'],
  ['a list', { _or: [{ a: 1 }, {}] }, 'any@_or[field@0.a all@1[]]'],
  ['a list of one without brackets', { _and: { a: 1 } }, 'all@_and[field@a]'],
  ['the other spelling', { $not: { $and: [] } }, 'not@$not[all@$and[]]'],
  [
    'rows of another table',
    { _exists: { _table: 't', _where: { a: 1 } } },
    'exists@_exists["t" field@_where.a]',
  ],
  ['no object', { _not: [1] }, 'not@_not[no-object@]'],
  ['no object about another table', { _exists: 't' }, 'no-object@_exists'],
])('%s', (_, expression, tree) => {
  expect(printed(parseBoolExp(expression))).toBe(tree);
});

test('a part has what is written, and a field leads to an expression', () => {
  const part = parseBoolExp({ author: { name: 'Ada' } });
  if (part.kind !== 'field') throw new Error(part.kind);
  expect(part.written).toEqual({ author: { name: 'Ada' } });
  expect(partBehind(part)).toMatchObject({ kind: 'field', name: 'name', value: 'Ada' });
});

test('an expression is too deep after a hundred objects, also behind fields', () => {
  const nested = (levels: number): object => (levels === 0 ? {} : { _not: nested(levels - 1) });
  expect(printed(parseBoolExp(nested(100)))).not.toContain('too-deep');
  expect(printed(parseBoolExp(nested(101)))).toContain('too-deep');
  const part = parseBoolExp({ author: nested(100) });
  expect(part.kind === 'field' && printed(partBehind(part))).toContain('too-deep');
});

test.each([
  ['a bare value', 1, [{ kind: 'equal', steps: [], operand: 1 }]],
  ['a literal', { $literal: 'x' }, [{ kind: 'equal', steps: [], operand: { $literal: 'x' } }]],
  ['an operator', { _eq: 1 }, [{ kind: 'operator', steps: ['_eq'], key: '_eq', operand: 1 }]],
  [
    'a list of operators',
    [{ _gt: 1 }, { $ceq: 'b' }],
    [
      { kind: 'operator', steps: [0, '_gt'], key: '_gt', operand: 1 },
      { kind: 'column', steps: [1, '$ceq'], key: '$ceq', operator: '_eq', operand: 'b' },
    ],
  ],
])('%s compares a value', (_, value, comparisons) => {
  expect(comparisonsOf(value)).toEqual(comparisons);
});
