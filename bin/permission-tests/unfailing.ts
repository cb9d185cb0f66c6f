/** Finds tests that cannot fail: they expect that a role does not have a field, and the administrator does not have it either, as with a name that is
 *  misspelt or has changed. In: the engine and results. Out: results, of which some have a note.
 *  Not here: whether a test passes (run-tests.ts), what it covers (coverage.ts). */
import {
  buildClientSchema,
  FieldsOnCorrectTypeRule,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  KnownArgumentNamesRule,
  parse,
  ValuesOfCorrectTypeRule,
  validate,
} from 'graphql';
import { ADMIN_ROLE } from '../../engine/resolve/session.ts';
import { sendTest } from '../../operator/engine/permission-test.ts';
import type { TestBed, TestResult } from './run-tests.ts';

/** The rules about names. Values are judged for the names of their fields alone. */
const RULES = [FieldsOnCorrectTypeRule, KnownArgumentNamesRule, ValuesOfCorrectTypeRule];
const OF_NAME = /^(Cannot query field|Unknown argument)|not to include unknown field/;

export async function withNotes(
  { engine }: Pick<TestBed, 'engine'>,
  results: readonly TestResult[],
): Promise<readonly TestResult[]> {
  if (!results.some(expectsMissingName)) return results;
  const { data } = await sendTest(engine, { role: ADMIN_ROLE, query: getIntrospectionQuery() });
  const schema = buildClientSchema(data as IntrospectionQuery, { assumeValid: true });
  return results.map((result) => {
    const missing = expectsMissingName(result) ? missingNameIn(result.test.spec.query, schema) : undefined;
    const note = `The test cannot fail, because the administrator does not have it either: ${missing}`;
    return missing === undefined ? result : { ...result, notes: [note] };
  });
}

function expectsMissingName({ test, differences }: TestResult): boolean {
  const { error } = test.spec.expect;
  const { code = 'validation-failed' } = error ?? {};
  return error !== undefined && differences.length === 0 && code === 'validation-failed';
}

/** Returns the sentence about the first name that the schema does not have; undefined when it has all, and for text that is no document. */
function missingNameIn(query: string, schema: GraphQLSchema): string | undefined {
  try {
    return validate(schema, parse(query), RULES).find(({ message }) => OF_NAME.test(message))?.message;
  } catch {
    return undefined;
  }
}
