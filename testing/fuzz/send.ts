/** Sends a fuzz request and judges the answer: it arrives in time, it is what its headers say, and every failure has an error code.
 *  Out: the problem, or null. Not here: the errors that the engine itself reports (subject.ts). */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { DirectoryError, fromDirectory } from '../../engine/metadata/read-directory.ts';
import type { FuzzRequest, HttpRequest } from './requests.ts';

/** The time limit of an answer. A request that hangs never ends; a mutation of 3,000 fields takes 12 s beside twelve busy processes. */
const MOST_MS = 120_000;
export const NO_ANSWER = 'no answer in time';
const agent = new Agent({ keepAlive: false });
/** The time a client waits for the end of a socket after it has sent everything. */
const LINGER_MS = 30;

export function send(url: string, request: FuzzRequest): Promise<string | null> {
  switch (request.kind) {
    case 'http':
      return sendHttp(url, request);
    case 'raw':
      return sendRaw(url, request.bytes);
    case 'abandoned':
      return abandon(url, request);
    case 'websocket':
      return openWebsocket(url, request);
    case 'directory':
      return Promise.resolve(readFiles(request.files));
  }
}

function sendHttp(url: string, { method, path, headers, body }: HttpRequest): Promise<string | null> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const text = method === 'GET' || method === 'HEAD' ? null : body;
    const sent = httpRequest({
      agent,
      hostname,
      port,
      method,
      path: path.replaceAll(/[^\u0021-\u00ff]/g, '?'),
      // For DELETE and OPTIONS the client sends no length by itself, and the engine would read the body as the next request.
      headers:
        text === null || 'transfer-encoding' in headers
          ? headers
          : { ...headers, 'content-length': Buffer.byteLength(text) },
    });
    // Not the time without traffic: an answer that drips forever never ends either.
    const limit = setTimeout(() => {
      resolve(NO_ANSWER);
      sent.destroy();
    }, MOST_MS);
    sent.once('close', () => clearTimeout(limit));
    sent.once('error', (error) => resolve(`no answer: ${error.message}`));
    sent.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => resolve(judge(response, Buffer.concat(chunks).toString(), method)));
      response.once('error', (error) => resolve(`half an answer: ${error.message}`));
      response.once('close', () => resolve('half an answer: the socket is closed'));
    });
    sent.end(text ?? undefined);
  });
}

/** Sends a request and disconnects. There is no answer to judge, only the errors that the engine reports. */
function abandon(url: string, { request, sent }: Extract<FuzzRequest, { kind: 'abandoned' }>): Promise<null> {
  const { method, path, body } = request;
  const bytes = Buffer.from(body ?? '');
  const headers = Object.entries({ ...request.headers, host: 'x', 'content-length': String(bytes.length) })
    .filter(([name]) => name !== 'transfer-encoding')
    .map(([name, value]) => `${name}: ${value}\r\n`);
  const head = `${method} ${path.replaceAll(/[^\u0021-\u00ff]/g, '?')} HTTP/1.1\r\n${headers.join('')}\r\n`;
  return sendRaw(url, head + bytes.subarray(0, sent ?? bytes.length).toString('latin1'));
}

function judge({ statusCode = 0, headers }: IncomingMessage, text: string, method: string): string | null {
  const isJson =
    headers['content-type']?.includes('json') && !headers['content-encoding'] && method !== 'HEAD';
  if (!isJson) return statusCode >= 500 && method !== 'HEAD' ? `${statusCode} ${text.slice(0, 300)}` : null;
  try {
    const body = JSON.parse(text) as { code?: string; error?: string; errors?: unknown };
    const isNamed = body.code !== undefined || body.errors !== undefined || statusCode < 500;
    return isNamed ? null : `${statusCode} without a code: ${text.slice(0, 300)}`;
  } catch {
    return `not JSON: ${statusCode} ${text.slice(0, 300)}`;
  }
}

/** Sends bytes and ignores the answer. */
function sendRaw(url: string, bytes: string): Promise<null> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'));
    const end = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.on('error', () => {});
    socket.on('data', () => {});
    socket.once('close', () => {
      clearTimeout(end);
      resolve(null);
    });
  });
}

function openWebsocket(
  url: string,
  { path, protocol, messages, isCut }: Extract<FuzzRequest, { kind: 'websocket' }>,
): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url.replace('http', 'ws') + path, protocol);
    const end = setTimeout(() => {
      socket.terminate();
      resolve('a socket that does not close');
    }, MOST_MS);
    let wrong: string | null = null;
    socket.on('error', () => {});
    socket.on('message', (data) => {
      const text = String(data);
      if (text.includes('internal server error')) wrong = text;
    });
    socket.once('close', () => {
      clearTimeout(end);
      resolve(wrong);
    });
    socket.once('open', () => {
      for (const message of messages) socket.send(message);
      setTimeout(() => (isCut ? socket.terminate() : socket.close()), LINGER_MS);
    });
  });
}

function readFiles(files: Readonly<Record<string, string>>): string | null {
  try {
    fromDirectory((file) => (Object.hasOwn(files, file) ? files[file] : undefined));
    return null;
  } catch (error) {
    return error instanceof DirectoryError ? null : ((error as Error).stack ?? String(error));
  }
}
