import { expect, test } from 'vitest';
import { objectKey } from '../metadata/objects.ts';
import { printDependents } from './dependents.ts';

test('dependents read as sentences, sorted, with the schema where it is not public', () => {
  const keys = [
    objectKey('object_relationship', 'default', 'public', 'article', 'author'),
    objectKey('array_relationship', 'default', 'sales', 'order/line', 'items'),
    objectKey('select_permission', 'default', 'public', 'article', 'user'),
    objectKey('computed_field', 'other', 'public', 'author', 'full name'),
    objectKey('table', 'default', 'public', 'article'),
    objectKey('allowlist', 'trusted'),
  ];
  expect(printDependents(keys).split(', ')).toEqual([
    'allowlist trusted',
    'computed field author.full name in source "other"',
    'permission article.user.select in source "default"',
    'relationship article.author in source "default"',
    'relationship sales.order/line.items in source "default"',
    'table article in source "default"',
  ]);
});
