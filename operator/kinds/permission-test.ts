/** PermissionTest: a request as a role, and what must come back. It has no object in the engine.
 *  Not here: sending the request and comparing the response (../permission-tests). */
import { parseGraphql, type Static, secret, Type } from '@pergola/engine/metadata';
import {
  closed,
  keyedList,
  MetadataName,
  OPEN_OBJECT,
  plainList,
  type Rule,
  textRecord,
  withDescription,
} from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, type PrinterColumn, SpecProblem, specWithoutObjects } from './kind.ts';
import { optional, required } from './mapping.ts';

/** An object with data of the database. */
const openObject = (description: string) =>
  withDescription(description, secret(Type.Unsafe<Readonly<Record<string, unknown>>>(OPEN_OBJECT)));

const rows = (description: string) =>
  optional(description, plainList(openObject('The fields of a row and their values.')));

const SOME_ROWS: Rule = {
  rule: 'has(self.count) || has(self.equal) || has(self.contains) || has(self.excludes)',
  message: 'an item of rows has no count, equal, contains or excludes and expects nothing; add one of them',
  holds: (item) => ['count', 'equal', 'contains', 'excludes'].some((field) => field in item),
};

const ExpectedRows = closed(
  {
    path: required(
      'The field of the response whose rows are compared: loan, or author.books for the books of all authors. An object is one row, ' +
        'null is none.',
      Type.String({ pattern: '^[_A-Za-z][_0-9A-Za-z]*([.][_A-Za-z][_0-9A-Za-z]*)*$', maxLength: 1024 }),
    ),
    count: optional('The number of rows.', Type.Integer({ minimum: 0 })),
    equal: rows('The rows, with all their fields, in any order.'),
    contains: rows('Rows that must be there. A row may have more fields than are named here.'),
    excludes: rows('Rows that must not be there: no row may have all of these values.'),
  },
  SOME_ROWS,
);

const ExpectedError = closed({
  code: optional(
    'The code of the error: validation-failed when the role has no such field.',
    Type.String({ minLength: 1, maxLength: 64 }),
  ),
  message: optional('A text that the message contains.', Type.String({ minLength: 1, maxLength: 4096 })),
  path: optional('The path of the error in the request.', Type.String({ minLength: 1, maxLength: 1024 })),
});

const DATA_OR_ERROR: Rule = {
  rule: 'has(self.error) != (has(self.data) || has(self.rows))',
  message: 'expect has either error, or data, rows or both; name one of them',
  holds: (expected) => 'error' in expected !== ('data' in expected || 'rows' in expected),
};

const Expected = closed(
  {
    data: Type.Optional(openObject('The whole field data of the response, with the order of its lists.')),
    rows: optional('The rows of single fields of the response.', keyedList('path', ExpectedRows, 100)),
    error: optional(
      'The response is an error. {} means any error. With several errors, one of them must fit.',
      ExpectedError,
    ),
  },
  DATA_OR_ERROR,
);

const NO_MUTATION: Rule = {
  rule: "!has(self.runAfterApply) || !self.runAfterApply || !self.query.matches('(^|[^_0-9A-Za-z])mutation([^_0-9A-Za-z]|$)')",
  message:
    'spec.query contains the word mutation, and a test that runs after apply must not change data; add a test without runAfterApply for it',
  holds: ({ runAfterApply, query }) =>
    !runAfterApply || !/(^|[^_0-9A-Za-z])mutation([^_0-9A-Za-z]|$)/.test(query),
};

const GATE_RUNS: Rule = {
  rule: '!has(self.gate) || (has(self.runAfterApply) && self.runAfterApply)',
  message: 'spec.gate has no effect on a test that the operator does not run; add runAfterApply: true',
  holds: ({ gate, runAfterApply }) => gate === undefined || runAfterApply === true,
};

const GATE_NAMES: Rule = {
  rule: "(self.kind == 'Table') == has(self.name)",
  message: 'spec.gate of kind Table names a Table, and of kind Engine names nothing; add or remove name',
  holds: ({ kind, name }) => (kind === 'Table') === (name !== undefined),
};

const Gate = closed(
  {
    kind: required(
      'Engine: the Engine of the test. Table: the Table that name refers to.',
      Type.Union([Type.Literal('Engine'), Type.Literal('Table')]),
    ),
    name: optional(
      'The name of a Table resource in the namespace of the test, of the same Engine, for example loan.',
      Type.String({ minLength: 1, maxLength: 253 }),
    ),
  },
  GATE_NAMES,
);

export const PermissionTestSpec = specWithoutObjects(
  {
    role: required('The role of the request, for example reader.', MetadataName),
    sessionVariables: optional(
      'The session variables of the request, for example {X-Engine-User-Id: "1"}. They are sent as headers.',
      secret(textRecord()),
    ),
    query: required('The GraphQL document.', Type.String({ minLength: 1, maxLength: 100_000 })),
    operationName: optional(
      'The operation of the document to run. Needed when there are several.',
      Type.String({ minLength: 1, maxLength: 255 }),
    ),
    variables: Type.Optional(openObject('The values of the variables of the document.')),
    expect: required(
      'What must come back: data, rows or both, or an error. A response with errors fits error only.',
      Expected,
    ),
    runAfterApply: optional(
      'True: the operator runs the test as well, with the data of the engine, after each change of its metadata and every ten minutes. ' +
        'The Engine must have policies.permissionTests: Run and be in the namespace of the test, and the document must not have a mutation. ' +
        'Absent: false, so that only `pergola test` runs it, and the operator if it should.',
      Type.Boolean(),
    ),
    gate: optional(
      'The resource that is not Ready while the test fails: {kind: Engine} or {kind: Table, name: loan}. Absent: only the test itself.',
      Gate,
    ),
  },
  NO_MUTATION,
  GATE_RUNS,
);
export type PermissionTestSpec = Static<typeof PermissionTestSpec>;

/** Returns why the document of a valid spec is no GraphQL; null when it is. A test that expects an error would pass with any such document. */
export function queryProblem({ query }: PermissionTestSpec): string | null {
  const parsed = parseGraphql(query);
  return 'problem' in parsed ? `spec.query: ${parsed.problem}` : null;
}

const PASSED: PrinterColumn = {
  name: 'Passed',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Passed")].status',
  description: 'What came of the test: True, False, or Unknown when it was not run.',
};

export const permissionTest = kindRow({
  kind: 'PermissionTest',
  shortNames: ['gqlpt'],
  concerns: 'object',
  description: 'A request as a role, and what must come back. `pergola test` runs it.',
  spec: PermissionTestSpec,
  // A test has no objects, so that nothing of it can drift.
  columns: OBJECT_COLUMNS.map((column) => (column.name === 'Drift' ? PASSED : column)),
  selectableFields: ['.spec.engineRef.name', '.spec.role'],
  purpose: 'test',
  target: (spec) => `test as ${spec.role}`,
  translate: (spec) => {
    const problem = queryProblem(spec);
    if (problem !== null) throw new SpecProblem('InvalidSpec', problem);
    return [];
  },
});
