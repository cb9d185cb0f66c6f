/** The operation of a request: which one of its document runs, and of what kind it is.
 *  Pure. In: `{query, variables, operationName}`. Not here: sending it (requests.js), code for it (code.js). */
import { parse, print, separateOperations } from 'graphql';

/** Returns the request and the kind of its operation, or `problem`, the mistake in the text. GraphiQL notices a name a moment after it was
 *  written: one that is not in the text is left out. */
export function operationOf(question) {
  const { operations, problem } = operationsIn(question.query);
  const named = operations.find(({ name }) => name?.value === question.operationName);
  return named
    ? { question, kind: named.operation }
    : { question: { ...question, operationName: undefined }, kind: operations[0]?.operation, problem };
}

function operationsIn(query) {
  try {
    const { definitions } = parse(query);
    return { operations: definitions.filter(({ kind }) => kind === 'OperationDefinition') };
  } catch ({ message }) {
    return { operations: [], problem: message };
  }
}

/** Returns the document with the operation that runs alone, and the fragments that it uses. */
export function onlyOperation({ query, operationName }) {
  try {
    const documents = separateOperations(parse(query));
    if (Object.keys(documents).length < 2) return query;
    return print(documents[operationName] ?? Object.values(documents)[0]);
  } catch {
    return query;
  }
}
