/** The text that `pergola up` prints after the first pass of the loop, and again on a key: a command to paste, addresses, and a link that
 *  signs in, which comes last.
 *  Pure, apart from colours of a terminal and the current folder. Not here: when (../up.ts, enter-key.ts). */
import { join, relative } from 'node:path';
import { invocation } from '../../operator/folder/invocation.ts';
import { paint } from '../../operator/folder/paint.ts';
import { shellWord } from '../../operator/folder/shell-word.ts';
import { USUAL_PORT } from './engine-process.ts';
import type { UpOptions } from './options.ts';

export type Running = {
  /** The URL of the engine. */
  readonly url: string;
  readonly adminSecret: string;
  /** The URL of the embedded database; undefined for a database of the user. */
  readonly databaseUrl: string | undefined;
  readonly statePath: string;
};

export function welcome(options: UpOptions, running: Running, hasKey: boolean): string {
  const bold = (text: string) => paint('bold', text);
  const { url, adminSecret, databaseUrl, statePath } = running;
  const isElsewhere = options.port === undefined && !url.endsWith(`:${USUAL_PORT}`);
  const note = isElsewhere ? `   (port ${USUAL_PORT} is in use)` : '';
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Data', `${statePath}   (the log of the engine: engine.log)`],
    ['Database', databaseUrl],
    ['Admin secret', bold(adminSecret)],
    ['GraphQL', `${url}/v1/graphql${options.hasConsole ? '' : note}`],
    ['Console', options.hasConsole ? `${bold(`${url}/console/`)}${note}` : undefined],
    ['Sign in', options.hasConsole ? bold(signInLink(url, adminSecret)) : undefined],
  ];
  const lines = [
    '',
    ...rows.flatMap(([name, text]) => (text === undefined ? [] : [`  ${name.padEnd(14)}${text}`])),
    '',
    ...(options.hasConsole ? ['  Open the link after "Sign in", and run a query as a role.'] : []),
    `  Edit a file below ${options.folder} and save: the API changes at once.`,
    '  Preview a change:',
    `    ${planCommand(options, running)}`,
    `  Ctrl-C stops everything; a second start keeps the data.${hasKey ? ' Enter prints this text again.' : ''}`,
    '',
    '',
  ];
  return lines.join('\n');
}

/** Returns a link with the secret in its fragment, which browsers do not send to a server. */
function signInLink(url: string, adminSecret: string): string {
  return `${url}/console/#admin-secret=${encodeURIComponent(adminSecret)}`;
}

/** Returns a command line that works in the shell in which `up` was started. */
function planCommand(options: UpOptions, { url, adminSecret, statePath }: Running): string {
  const secrets = {
    state: `ENGINE_GRAPHQL_ADMIN_SECRET="$(cat ${shellWord(nearPath(join(statePath, 'admin-secret')))})" `,
    variable: '',
    given: `ENGINE_GRAPHQL_ADMIN_SECRET=${shellWord(adminSecret)} `,
  };
  const prefix = options.headerPrefix === 'x-engine-' ? '' : ` --header-prefix ${options.headerPrefix}`;
  return `${secrets[options.secretFrom]}${invocation()} plan -f ${shellWord(nearPath(options.folder))} --engine ${url}${prefix}`;
}

/** Returns the path from the current folder if it is below it. */
function nearPath(path: string): string {
  const near = relative('', path);
  if (near === '') return '.';
  return near.startsWith('..') ? path : near;
}
