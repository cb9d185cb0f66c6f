/** Resources as the API server stores them: those of a kind that were stored as an older version are written once more, unchanged, so
 *  that they are stored as the version that is now; then the definition forgets the older ones (`status.storedVersions`), and a
 *  later release may drop them. Safe to repeat, to interrupt, and beside a running operator.
 *  Not here: the command (../commands/migrate-storage.ts), which versions there are (crds/).
 *  Kubernetes documentation, "Versions in CustomResourceDefinitions": "Upgrade existing objects to a new stored version". */
import { API_GROUP } from '../kinds.ts';
import { ApiProblem, type Transport } from './transport.ts';

export type Definition = {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec: { readonly versions: readonly { readonly name: string; readonly storage: boolean }[] };
  readonly status?: { readonly storedVersions?: readonly string[] };
};

type Page = {
  readonly metadata: { readonly continue?: string };
  readonly items: readonly {
    readonly metadata: {
      readonly name: string;
      readonly namespace: string;
      readonly uid: string;
      readonly resourceVersion: string;
    };
  }[];
};

const IN_FLIGHT = 8;
const PAGE_SIZE = '500';
const MERGE = 'application/merge-patch+json';

/** Undefined: there is none. */
export function definitionOf(transport: Transport, plural: string): Promise<Definition | undefined> {
  return orNothing(transport.send<Definition>({ method: 'GET', path: pathOf(plural) }));
}

/** What resources are written as. */
export function storageVersionOf({ spec }: Definition): string {
  return spec.versions.find(({ storage }) => storage)!.name;
}

/** What some may still be stored as. */
export function olderVersionsOf(definition: Definition): readonly string[] {
  const storage = storageVersionOf(definition);
  return (definition.status?.storedVersions ?? []).filter((version) => version !== storage);
}

/** How many resources there are. Every API server has to know the definition as it is. Throws ApiProblem; then the definition
 *  says what it said, as it does where it was changed meanwhile: it may store otherwise by now. */
export async function migrateStorage(
  transport: Transport,
  plural: string,
  definition: Definition,
): Promise<number> {
  const storage = storageVersionOf(definition);
  const written = await rewriteAll(transport, `/apis/${API_GROUP}/${storage}`, plural);
  const { resourceVersion } = definition.metadata;
  const body = { metadata: { resourceVersion }, status: { storedVersions: [storage] } };
  await transport.send({ method: 'PATCH', path: `${pathOf(plural)}/status`, contentType: MERGE, body });
  return written;
}

function pathOf(plural: string): string {
  return `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${API_GROUP}`;
}

async function rewriteAll(transport: Transport, root: string, plural: string): Promise<number> {
  let written = 0;
  let token: string | undefined;
  do {
    const query = { limit: PAGE_SIZE, ...(token ? { continue: token } : {}) };
    const page: Page = await transport.send({ method: 'GET', path: `${root}/${plural}`, query });
    const waiting = [...page.items];
    const lane = async () => {
      for (let item = waiting.shift(); item; item = waiting.shift()) {
        await rewrite(transport, `${root}/namespaces/${item.metadata.namespace}/${plural}`, item);
        written++;
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
    token = page.metadata.continue;
  } while (token);
  return written;
}

/** A write that changes nothing is one all the same where what is stored is of another version. */
async function rewrite(
  transport: Transport,
  path: string,
  { metadata }: Page['items'][number],
): Promise<void> {
  const { name, uid, resourceVersion } = metadata;
  const body = { metadata: { uid, resourceVersion } };
  await orNothing(transport.send({ method: 'PATCH', path: `${path}/${name}`, contentType: MERGE, body }));
}

/** What is gone need not be written, and what somebody else has written since is stored anew. */
async function orNothing<T>(sent: Promise<T>): Promise<T | undefined> {
  try {
    return await sent;
  } catch (error) {
    if (error instanceof ApiProblem && (error.status === 404 || error.status === 409)) return undefined;
    throw error;
  }
}
