/** The operation of a request: which one of its document runs, and of what kind it is.
 *  Pure. In: `{query, variables, operationName}`. Not here: sending it (requests.js), code for it (code.js). */
import { parse, print, separateOperations } from 'graphql';

/** Returns the request, the kind of its operation and whether it is a stream, or `problem`, the mistake in the text. GraphiQL notices a name a moment
 *  after it was written: one that is not in the text is left out. */
export function operationOf(question) {
  const { operations, fragments, problem } = operationsIn(question.query);
  const named = operations.find(({ name }) => name?.value === question.operationName);
  const operation = named ?? operations[0];
  return {
    question: named ? question : { ...question, operationName: undefined },
    kind: operation?.operation,
    isStream: operation?.operation === 'subscription' && hasCursor(operation.selectionSet, fragments),
    problem,
  };
}

/** Returns a text that is the same for two requests when they run the same operation with the same variables. */
export function operationKey(given) {
  const { question } = operationOf(given);
  return JSON.stringify([onlyOperation(question), question.variables ?? {}]);
}

/** True when a root field, which may be in a fragment, has the argument of streams that says where they start. */
function hasCursor(selectionSet, fragments) {
  return selectionSet.selections.some((selection) => {
    if (selection.kind === 'Field')
      return selection.arguments?.some(({ name }) => name.value === 'cursor') ?? false;
    if (selection.kind === 'InlineFragment') return hasCursor(selection.selectionSet, fragments);
    const { name } = selection;
    const found = fragments.find((each) => each.name.value === name.value);
    // The engine refuses a fragment that uses itself.
    const others = fragments.filter((each) => each !== found);
    return found !== undefined && hasCursor(found.selectionSet, others);
  });
}

function operationsIn(query) {
  try {
    const { definitions } = parse(query);
    const ofKind = (wanted) => definitions.filter(({ kind }) => kind === wanted);
    return { operations: ofKind('OperationDefinition'), fragments: ofKind('FragmentDefinition') };
  } catch ({ message }) {
    return { operations: [], fragments: [], problem: message };
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
