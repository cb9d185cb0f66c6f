/** The service of the amplification cases: a remote schema and the webhook of an action, whose answers a case chooses.
 *  Not here: the answers (answers.ts), the tables (world.ts). */
import { startRemote } from '../remote.ts';

const SERVICE_SDL = `
  interface Named { name: String }
  type Item implements Named { id: ID! name: String tags: [String!] kind: Kind json: Json inner: Item items: [Item!]! any: Any }
  type Other implements Named { name: String count: Int! }
  union Any = Item | Other
  enum Kind { A B }
  scalar Json
  type Query { item: Item items: [Item!]! named: [Named] any: Any json: Json text: String }`;

export type AmplificationService = {
  readonly url: string;
  /** Runs `body` while every request is answered with these bytes. */
  readonly answering: <T>(
    bytes: Buffer,
    headers: Readonly<Record<string, string>>,
    body: () => Promise<T>,
  ) => Promise<T>;
  readonly close: () => Promise<void>;
};

export async function startAmplificationService(): Promise<AmplificationService> {
  const { url, misbehave, close } = await startRemote(SERVICE_SDL);
  return {
    url,
    close,
    answering: async (bytes, headers, body) => {
      misbehave((request, response) => {
        request.resume();
        response.writeHead(200, { 'content-length': bytes.length, ...headers }).end(bytes);
      });
      try {
        return await body();
      } finally {
        misbehave(null);
      }
    },
  };
}

/** The remote schema and the action that the service is. Its types have other names here. */
export function servedBy({ url }: AmplificationService): object {
  const field = (name: string, type: string) => ({ name, type });
  const output = [
    field('id', 'ID!'),
    field('name', 'String'),
    field('tags', '[String!]'),
    field('items', '[Acted!]'),
  ];
  return {
    remote_schemas: [
      { name: 'service', definition: { url, customization: { type_names: { prefix: 'Of' } } } },
    ],
    actions: [
      {
        name: 'act',
        definition: { handler: url, kind: 'synchronous', type: 'mutation', output_type: 'Acted' },
      },
    ],
    custom_types: { objects: [{ name: 'Acted', fields: output }] },
  };
}
