/** The types of operation.js for its test. */
export function operationOf(question: { readonly query: string }): { readonly isStream: boolean };
