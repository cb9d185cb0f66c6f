/** The bytes of a request as text, up to a limit. Raises `bodyTooLarge`.
 *  For the GraphQL endpoint, which does without the web framework; the others have the framework's own reader. */
import type { IncomingMessage } from 'node:http';
import { EngineError } from '../errors/engine-error.ts';

export function readBody(request: IncomingMessage, mostBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const tooLarge = () => reject(new EngineError('bodyTooLarge', { mostBytes }));
    if (Number(request.headers['content-length'] ?? 0) > mostBytes) {
      request.resume();
      tooLarge();
      return;
    }
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= mostBytes) chunks.push(chunk);
      else tooLarge();
    });
    request.once('end', () => resolve(textOf(chunks)));
    request.once('error', reject);
  });
}

/** Small requests come in one chunk and need no copy. */
function textOf(chunks: readonly Buffer[]): string {
  return (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString('utf8');
}
