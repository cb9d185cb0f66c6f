/** The name of one request in logs and in its response: the client's own `x-request-id`, or a new one. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Longer ones are cut, so that a client cannot fill the log. */
const LONGEST = 200;

export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && given !== '' ? given.slice(0, LONGEST) : randomUUID();
}
