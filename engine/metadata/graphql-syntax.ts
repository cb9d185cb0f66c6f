/** The syntax of GraphQL documents: requests and schemas. In: a text. Out: the document, or what is wrong with the text. Pure.
 *  Not here: what a document means (actions-sdl.ts, ../plan/document.ts). */
// Not from 'graphql': the operator loads this file, and needs none of the 140 modules that execute requests.
import { GraphQLError } from 'graphql/error';
import { type DocumentNode, parse } from 'graphql/language';

/** Returns the document, or the problem with its line: `Syntax Error: Expected Name, found <EOF>. (line 3)`. */
export function parseGraphql(
  text: string,
): { readonly document: DocumentNode } | { readonly problem: string } {
  try {
    return { document: parse(text) };
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const at = error.locations?.[0];
    return { problem: at ? `${error.message} (line ${at.line})` : error.message };
  }
}
