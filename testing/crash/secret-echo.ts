/** A named value of each lane, and a service that shows which text of it an engine sends: no operation of the engine does.
 *  In: lanes. Out: the operations that set up an action for each lane, and the text that an engine sends now.
 *  Not here: when values change (lane.ts). */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { post } from './post.ts';

/** The key under which the engines encrypt the values. */
export const VALUES_KEY = 'key-of-the-values-in-crash-tests-0123456789';
export const FIRST_SECRET = 'first';

export class SecretEcho {
  readonly #server: Server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(request.headers['x-secret'] ?? null));
    });
  });

  async open(): Promise<void> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Returns the operation that stores the first value of each lane, and those that create an action whose header is that value. */
  setUp(lanes: readonly string[]): readonly object[] {
    const { port } = this.#server.address() as AddressInfo;
    const actions = lanes.map((lane) => ({
      type: 'create_action',
      args: {
        name: actionOf(lane),
        definition: {
          type: 'query',
          handler: `http://127.0.0.1:${port}/`,
          output_type: 'String!',
          headers: [{ name: 'X-Secret', value_from_value: lane }],
        },
      },
    }));
    return [setValue(lanes, FIRST_SECRET), ...actions];
  }
}

/** Returns the operation that stores a text as the named value of each lane. */
export function setValue(lanes: readonly string[], value: string): object {
  return { type: 'set_values', args: { values: lanes.map((name) => ({ name, value })) } };
}

/** Returns the text that an engine sends for the value of a lane; null when the action fails. */
export async function secretAt(url: string, lane: string): Promise<string | null> {
  const answer = await post(`${url}/v1/graphql`, { query: `{ ${actionOf(lane)} }` });
  const { data } = JSON.parse(answer?.text ?? '{}') as { data?: Readonly<Record<string, string>> };
  return data?.[actionOf(lane)] ?? null;
}

function actionOf(lane: string): string {
  return `secret_of_${lane}`;
}
