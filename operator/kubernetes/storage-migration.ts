/** Migrates stored resources to the current version: writes every resource of a kind unchanged, so that the API server stores it in that
 *  version, and then removes older versions from `status.storedVersions` of the definition, so that a later release may drop them. It may
 *  be repeated, interrupted, and run beside the operator.
 *  Not here: the command (../commands/migrate-storage.ts), the versions (crds/).
 *  Kubernetes documentation, "Versions in CustomResourceDefinitions": "Upgrade existing objects to a new stored version". */
import { API_GROUP } from '../kinds.ts';
import { definitionPath } from './resource-path.ts';
import { hasStatus, type Transport } from './transport.ts';

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

/** Returns the definition; undefined when it does not exist. */
export function definitionOf(transport: Transport, plural: string): Promise<Definition | undefined> {
  return orNothing(transport.send<Definition>({ method: 'GET', path: definitionPath(plural) }));
}

/** Returns the version in which resources are stored. */
export function storageVersionOf({ spec }: Definition): string {
  return spec.versions.find(({ storage }) => storage)!.name;
}

/** Returns the older versions in which some resources may still be stored. */
export function olderVersionsOf(definition: Definition): readonly string[] {
  const storage = storageVersionOf(definition);
  return (definition.status?.storedVersions ?? []).filter((version) => version !== storage);
}

/** Rewrites all resources of a kind and returns their number. Every API server must know the current definition. Throws ApiProblem; then
 *  the definition keeps its stored versions, as it does when it was changed meanwhile. */
export async function migrateStorage(
  transport: Transport,
  plural: string,
  definition: Definition,
): Promise<number> {
  const storage = storageVersionOf(definition);
  const written = await rewriteAll(transport, `/apis/${API_GROUP}/${storage}`, plural);
  const { resourceVersion } = definition.metadata;
  const body = { metadata: { resourceVersion }, status: { storedVersions: [storage] } };
  await transport.send({
    method: 'PATCH',
    path: `${definitionPath(plural)}/status`,
    contentType: MERGE,
    body,
  });
  return written;
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

/** Rewrites a resource unchanged. The API server stores it in the current version. */
async function rewrite(
  transport: Transport,
  path: string,
  { metadata }: Page['items'][number],
): Promise<void> {
  const { name, uid, resourceVersion } = metadata;
  const body = { metadata: { uid, resourceVersion } };
  await orNothing(transport.send({ method: 'PATCH', path: `${path}/${name}`, contentType: MERGE, body }));
}

/** Resolves to undefined for a resource that was deleted (404) or written meanwhile (409): neither needs a rewrite. */
async function orNothing<T>(sent: Promise<T>): Promise<T | undefined> {
  try {
    return await sent;
  } catch (error) {
    if (hasStatus(error, 404, 409)) return undefined;
    throw error;
  }
}
