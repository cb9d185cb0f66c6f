/** Code that sends an operation as the page sends it: for curl, fetch and Apollo Client. Secrets are not in it: they are environment variables.
 *  Pure. In: the address, the headers, the operation. Out: text. Not here: the headers (headers.js). */
import { onlyOperation, operationOf } from './operation.js';

/** The languages by their name. */
export const LANGUAGES = { curl: curlFor, fetch: fetchFor, 'Apollo Client': apolloFor };

const JSON_TYPE = ['content-type', 'application/json'];

function curlFor({ url, headers, operation }) {
  const { question, kind } = operationOf(operation);
  if (kind === 'subscription') return `# ${NEEDS_SOCKET}\n`;
  const lines = [JSON_TYPE, ...Object.entries(headers)].map(
    ([name, value]) => `-H ${shellHeader(name, value)}`,
  );
  const body = `--data-raw ${shellWord(JSON.stringify(question))}`;
  return `${[`curl ${shellWord(url)}`, ...lines, body].join(' \\\n  ')}\n`;
}

function fetchFor({ url, headers, operation }) {
  const { question, kind } = operationOf(operation);
  if (kind === 'subscription') return `// ${NEEDS_SOCKET}\n`;
  const { query, ...rest } = question;
  const members = [
    `query: ${templateOf(query)}`,
    ...Object.entries(rest).flatMap(([name, value]) => (value ? [`${name}: ${indented(value, 4)}`] : [])),
  ];
  return `const response = await fetch(${textOf(url)}, {
  method: 'POST',
  headers: ${headersText({ [JSON_TYPE[0]]: JSON_TYPE[1], ...headers }, 4)},
  body: JSON.stringify({
    ${members.join(',\n    ')},
  }),
});
console.log(await response.json());
`;
}

function apolloFor({ url, headers, operation }) {
  const { question, kind } = operationOf(operation);
  const isLive = kind === 'subscription';
  const isMutation = kind === 'mutation';
  const imports = ['ApolloClient', 'gql', ...(isLive ? [] : ['HttpLink']), 'InMemoryCache'].join(', ');
  const link = isLive
    ? `new GraphQLWsLink(
    createClient({
      url: ${textOf(url.replace(/^http/, 'ws'))},
      connectionParams: { headers: ${headersText(headers, 8)} },
    }),
  )`
    : `new HttpLink({
    uri: ${textOf(url)},
    headers: ${headersText(headers, 6)},
  })`;
  const given = question.variables ? `\n  variables: ${indented(question.variables, 2)},` : '';
  const call = `{
  ${isMutation ? 'mutation' : 'query'}: gql${templateOf(onlyOperation(question))},${given}
}`;
  return `import { ${imports} } from '@apollo/client/core';
${isLive ? "import { GraphQLWsLink } from '@apollo/client/link/subscriptions';\nimport { createClient } from 'graphql-ws';\n" : ''}
const client = new ApolloClient({
  link: ${link},
  cache: new InMemoryCache(),
});
${
  isLive
    ? `client.subscribe(${call}).subscribe(({ data }) => console.log(data));`
    : `const { data } = await client.${isMutation ? 'mutate' : 'query'}(${call});\nconsole.log(data);`
}
`;
}

const NEEDS_SOCKET = 'A subscription needs a WebSocket: see the code for Apollo Client.';

/** The headers with secrets, the text before the secret, and the environment variable that holds it. */
function secretIn(name, value) {
  if (name === 'authorization' && /^bearer /i.test(value)) return { before: 'Bearer ', variable: 'TOKEN' };
  const isSecret = /^(authorization|cookie)$|secret|token|password|api-?key|access-key/.test(name);
  return isSecret ? { before: '', variable: variableFor(name) } : undefined;
}

/** Returns `ADMIN_SECRET` for `x-engine-admin-secret`, `AUTHORIZATION` for `authorization`. */
function variableFor(name) {
  const known = /(admin-secret|console-secret)$/.exec(name)?.[1];
  return (known ?? name).toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
}

function headersText(headers, indent) {
  const pad = ' '.repeat(indent);
  const lines = Object.entries(headers).map(([name, value]) => {
    const secret = secretIn(name, value);
    const text = secret
      ? secret.before === ''
        ? `process.env.${secret.variable}`
        : `\`${secret.before}\${process.env.${secret.variable}}\``
      : textOf(value);
    return `${pad}${textOf(name)}: ${text},\n`;
  });
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}${' '.repeat(indent - 2)}}`;
}

/** Returns a header as a word of the shell. curl removes a header without a value, unless a semicolon follows its name. */
function shellHeader(name, value) {
  const secret = secretIn(name, value);
  if (secret) return `"${name}: ${secret.before}$${secret.variable}"`;
  return shellWord(value === '' ? `${name};` : `${name}: ${value}`);
}

function shellWord(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Returns a text as a literal of JavaScript in single quotes. */
function textOf(text) {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${escaped}'`;
}

function templateOf(text) {
  return `\`${text.replaceAll(/\\|`|\$\{/g, '\\$&')}\``;
}

function indented(value, indent) {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${' '.repeat(indent)}`);
}
