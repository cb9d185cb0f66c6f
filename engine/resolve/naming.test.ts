/** How names are composed under both conventions, and what a source's customization puts around them. */
import { expect, test } from 'vitest';
import type { SourceCustomization } from '../metadata/schema/source.ts';
import {
  enumValueName,
  fieldName,
  namespaceTypeName,
  namingOf,
  type Part,
  rootFieldName,
  sharedTypeName,
  typeName,
} from './naming.ts';

const plain = namingOf({ naming_convention: 'default' }, 'graphql-default');
const camel = namingOf(undefined, 'graphql-default');
const custom = (name: string): Part => ({ verbatim: name });

test.each<[parts: Part[], ours: string, field: string, type: string]>([
  [['author_local'], 'author_local', 'authorLocal', 'AuthorLocal'],
  [['author_local', 'by_pk'], 'author_local_by_pk', 'authorLocalByPk', 'AuthorLocalByPk'],
  [['insert', 'author', 'one'], 'insert_author_one', 'insertAuthorOne', 'InsertAuthorOne'],
  [[custom('table_one')], 'table_one', 'table_one', 'table_one'],
  [[custom('table_one'), 'by_pk'], 'table_one_by_pk', 'table_oneByPk', 'table_oneByPk'],
  [
    ['insert', custom('table_one'), 'one'],
    'insert_table_one_one',
    'insertTable_oneOne',
    'InsertTable_oneOne',
  ],
  [[custom('TableOne'), 'by_pk'], 'TableOne_by_pk', 'TableOneByPk', 'TableOneByPk'],
  [['_is_null'], '_is_null', '_isNull', '_isNull'],
  [['_delete_at_path'], '_delete_at_path', '_deleteAtPath', '_deleteAtPath'],
  [['office_phone_'], 'office_phone_', 'officePhone', 'OfficePhone'],
  [['_'], '_', '_', '_'],
])('%j is %s, and in the other convention %s and %s', (parts, ours, field, type) => {
  expect(fieldName(plain, ...parts)).toBe(ours);
  expect(typeName(plain, ...parts)).toBe(ours);
  expect(fieldName(camel, ...parts)).toBe(field);
  expect(typeName(camel, ...parts)).toBe(type);
});

test('enum values are written in capitals', () => {
  expect(enumValueName(plain, 'asc_nulls_first')).toBe('asc_nulls_first');
  expect(enumValueName(camel, 'asc_nulls_first')).toBe('ASC_NULLS_FIRST');
});

test('types that are about a scalar are spelled, and not customized', () => {
  const naming = namingOf({ type_names: { prefix: 'a_', suffix: '_z' } }, 'graphql-default');
  expect(sharedTypeName(naming, 'timestamptz_comparison_exp')).toBe('TimestamptzComparisonExp');
  expect(sharedTypeName(plain, 'Int_comparison_exp')).toBe('Int_comparison_exp');
});

const around = (naming_convention: 'default' | 'graphql-default', prefix: string, suffix: string) => {
  const customization: SourceCustomization = {
    naming_convention,
    root_fields: { namespace: 'shop', prefix, suffix },
    type_names: { prefix: `T${prefix}`, suffix },
  };
  return namingOf(customization, 'default');
};

test('prefix and suffix are put as they are around names in snake case', () => {
  const naming = around('default', 'foo_', '_bar');
  expect(rootFieldName(naming, 'author_by_pk')).toBe('foo_author_by_pk_bar');
  expect(typeName(naming, 'author', 'bool_exp')).toBe('Tfoo_author_bool_exp_bar');
  expect(namespaceTypeName(naming, 'query')).toBe('Tfoo_shop_query_bar');
});

test('they begin a new word in camel case', () => {
  const naming = around('graphql-default', 'test', 'query');
  expect(rootFieldName(naming, 'authorByPk')).toBe('testAuthorByPkQuery');
  expect(typeName(naming, 'author', 'bool_exp')).toBe('TtestAuthorBoolExpQuery');
});

test('a suffix alone leaves the name', () => {
  const naming = namingOf({ root_fields: { suffix: 'list' } }, 'graphql-default');
  expect(rootFieldName(naming, 'author')).toBe('authorList');
});

test('a source keeps its convention where another is the standard one', () => {
  expect(namingOf({ naming_convention: 'graphql-default' }, 'default').names.order_by).toBe('orderBy');
  expect(plain.names.order_by).toBe('order_by');
});

test('without conventions there is only the default one', () => {
  const naming = namingOf({ naming_convention: 'graphql-default' }, undefined);
  expect(naming.names.order_by).toBe('order_by');
});
