/** Returns code that sends an operation with these headers, by the name of the language. */
export const LANGUAGES: Readonly<
  Record<
    'curl' | 'fetch' | 'Apollo Client',
    (request: {
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly operation: {
        readonly query: string;
        readonly variables?: object;
        readonly operationName?: string;
      };
    }) => string
  >
>;
