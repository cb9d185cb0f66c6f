/** The table of errors against the specification's: every row it prints, and nothing a client could not make sense of. */
import { expect, test } from 'vitest';
import { EngineError } from './engine-error.ts';
import { ERRORS, type ErrorName } from './errors.ts';

/** One value for every parameter any row takes: messages are compared with the specification's, placeholders filled in. */
const PARAMS = {
  table: 'T',
  column: 'C',
  name: 'N',
  role: 'R',
  type: 'P',
  field: 'F',
  header: 'H',
  version: '1',
  dependents: 'D',
  dependency: 'D',
  kind: 'K',
  names: { toString: () => 'X', join: () => 'X' },
  left: 'A',
  right: 'B',
  types: 'T1,T2',
  text: 'TEXT',
  with: 'W',
  source: 'S',
};

/** Rows to come may take other parameters, and lists: any has some text. */
const ANY_PARAMS = new Proxy<Record<string, unknown>>(PARAMS, {
  get: (params, name) => params[String(name)] ?? { toString: () => 'some-text', join: () => 'some-text' },
});

/** Status, code and message of the specification's table, in its order. A null code is one it does not show. */
const SPECIFIED: readonly (readonly [number, string | null, string, ErrorName])[] = [
  [
    400,
    'postgres-error',
    'Not-NULL violation. null value in column N violates not-null constraint',
    'notNullViolation',
  ],
  [400, 'permission-denied', 'select on N for role R is not allowed.', 'selectNotPermitted'],
  [400, 'not-exists', 'table T does not exist', 'tableNotTracked'],
  [400, 'not-exists', 'no such table/view exists in the database: T', 'tableNotInDatabase'],
  [400, 'not-exists', 'N does not exist', 'fieldNotExists'],
  [400, 'already-tracked', 'view/table already tracked : T', 'alreadyTracked'],
  [400, 'access-denied', 'restricted access : admin only', 'adminOnly'],
  [400, 'not-supported', 'table renames are not yet supported : T', 'tableRenameNotSupported'],
  [400, 'not-exists', 'N does not exist', 'columnNotExists'],
  [
    400,
    'already-exists',
    'cannot add column C in table T as a relationship with the name already exists',
    'columnNamedLikeRelationship',
  ],
  [400, 'invalid-json', 'invalid json', 'invalidJson'],
  [400, 'not-supported', 'column renames are not yet supported : T.C', 'columnRenameNotSupported'],
  [400, 'invalid-headers', 'missing header : N', 'missingHeader'],
  [
    400,
    'dependency-error',
    'cannot change type of column C in table T because of the following dependencies : D',
    'cannotChangeType',
  ],
  [400, 'invalid-headers', 'X-Engine-User-Id should be an integer', 'userIdNotInteger'],
  [400, 'dependency-error', 'cannot drop due to the following dependent objects : D', 'cannotDropDependents'],
  [400, 'access-denied', 'You have to be admin to access this endpoint', 'accessDenied'],
  [400, 'parse-failed', 'parsing dotted table failed : T', 'dottedTable'],
  [400, 'access-denied', 'not authorised to access this tx', 'transactionDenied'],
  [400, 'already-exists', 'multiple declarations exist for the following K : X', 'multipleDeclarations'],
  [400, 'not-exists', 'tx does not exists', 'transactionNotExists'],
  [400, 'already-exists', 'column/relationship of table T already exists', 'fieldConflict'],
  [
    400,
    'already-initialised',
    'the state seems to be initialised already. you may need to migrate from this version: 1',
    'alreadyInitialised',
  ],
  [400, 'constraint-error', 'no foreign constraint exists on the given column', 'noForeignKey'],
  [400, 'not-supported', 'unsupported version : 1', 'unsupportedCatalogVersion'],
  [
    400,
    'constraint-error',
    'more than one foreign key constraint exists on the given column',
    'severalForeignKeys',
  ],
  [400, 'already-exists', 'the query template already exists N', 'templateExists'],
  [400, 'permission-error', 'P permission on T for role R already exists', 'permissionExists'],
  [400, 'permission-error', 'P permission on T for role R does not exist', 'permissionNotExists'],
  [400, 'unexpected-payload', 'Unknown operator : N', 'unknownOperator'],
  [400, 'unexpected-payload', 'expecting a string for column operator', 'columnOperandNotText'],
  [400, 'unexpected-payload', 'incompatible column types : A, B', 'incompatibleColumns'],
  [
    400,
    'unexpected-payload',
    'Expecting constraint or constraint_on when the action is update',
    'conflictTargetMissing',
  ],
  [400, 'unexpected-payload', 'constraint and constraint_on cannot be set at a time', 'conflictTargetTwice'],
  [400, 'unexpected-payload', 'upsert is not allowed for role R', 'upsertNotPermitted'],
  [400, 'unexpected-payload', 'objects should not be empty', 'noObjects'],
  [400, 'invalid-params', 'missing parameter : N', 'missingParameter'],
  [400, 'unexpected-payload', "can't be empty", 'empty'],
  [400, null, 'N is a relationship and should be expanded', 'relationshipNotExpanded'],
  [400, 'unexpected-payload', 'N should be included in columns', 'columnNotIncluded'],
  [
    400,
    'unexpected-payload',
    "N is an array relationship and can't be used in order_by",
    'orderByArrayRelationship',
  ],
  [400, null, 'N is a database column and cannot be chained further', 'columnChained'],
  [400, 'unexpected-payload', 'order_by array should not be empty', 'emptyOrderBy'],
  [
    400,
    'unexpected-payload',
    "when selecting an obj_relationship where, order_by, limit and offset can't be used",
    'argumentsOnObjectRelationship',
  ],
  [400, 'unexpected-payload', 'atleast one of $set, $inc, $mul has to be present', 'nothingToUpdate'],
  [400, 'permission-denied', 'P on T for role R is not allowed', 'operationNotPermitted'],
  [400, 'not-exists', 'no such column exists : N', 'noSuchColumn'],
  [400, 'permission-denied', 'role R does not have permission to P column C', 'columnNotPermitted'],
  [400, null, 'expecting a database column; but, N is relationship', 'columnExpected'],
  [400, 'unexpected-payload', 'JSON column can not be part of where clause', 'jsonColumnInWhere'],
  [
    400,
    'unexpected-payload',
    'is of type P; this operator works only on column of types [T1,T2]',
    'operatorNotForType',
  ],
  [400, 'postgres-error', 'query execution failed', 'queryExecutionFailed'],
  [500, 'unexpected', 'unexpected dependency of relationship : D', 'relationshipDependency'],
  [500, 'unexpected', 'unexpected dependent object : D', 'unexpectedDependent'],
  [500, 'unexpected', 'field already exists', 'fieldAlreadyThere'],
  [500, 'unexpected', 'field does not exist', 'fieldNotThere'],
  [500, 'unexpected', 'permission does not exist', 'permissionNotThere'],
  [500, 'postgres-error', 'postgres transaction error', 'transactionFailed'],
  [500, 'postgres-error', 'connection error', 'sourceUnreachable'],
  [500, 'postgres-error', 'postgres query error', 'postgresQueryFailed'],
  [404, 'not-found', 'No such resource exists', 'resourceNotFound'],
];

const NAMES = Object.keys(ERRORS) as ErrorName[];
const raised = (name: ErrorName): EngineError => new EngineError(name, ANY_PARAMS);

test.each(SPECIFIED)('the specification has %i %s: %s', (status, code, message, name) => {
  const error = raised(name);
  expect([error.status, error.messageIn('specification')]).toEqual([status, message]);
  expect(error.codeIn('specification')).toBe(code ?? 'unexpected-payload');
});

test('the specification has 61 rows', () => {
  expect(SPECIFIED).toHaveLength(61);
});

test.each(NAMES)('%s has a message without holes in either wording', (name) => {
  const error = raised(name);
  const texts = [error.messageIn('specification'), error.messageIn('newer')];
  expect(texts.map(String).filter((text) => text.trim() === '' || text.includes('[object'))).toEqual([]);
});

test('codes are words in lower case, joined by dashes', () => {
  const codes = NAMES.filter((name) => name !== 'inconsistentObject').flatMap((name) => [
    raised(name).codeIn('specification'),
    raised(name).codeIn('newer'),
  ]);
  expect(codes.filter((code) => !/^[a-z]+(-[a-z]+)*$/.test(code))).toEqual([]);
});

test('a wording of its own is given only where it differs', () => {
  const idle = NAMES.filter((name) => {
    const error = raised(name);
    const hasNewer = 'newer' in ERRORS[name];
    const isSame =
      error.messageIn('newer') === error.messageIn('specification') &&
      error.codeIn('newer') === error.codeIn('specification');
    return hasNewer && isSame;
  });
  expect(idle).toEqual([]);
});

test('a permission that is there already is told in the words of either endpoint', () => {
  const error = new EngineError('permissionExists', { type: 'select', table: 'author', role: 'user' });
  expect([error.codeIn('specification'), error.messageIn('specification')]).toEqual([
    'permission-error',
    'select permission on author for role user already exists',
  ]);
  expect([error.codeIn('newer'), error.messageIn('newer')]).toEqual([
    'already-exists',
    'select permission already defined on table "author" with role "user"',
  ]);
});
