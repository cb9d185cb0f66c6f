/** Determines the name of the cluster in ledgers once: the configured name, or the uid of the namespace kube-system, or, without the right to
 *  read it, a digest of the certificate authority of the API server. The lease of the operator keeps it, since rights and certificates change,
 *  and with another name everything the operator owns would belong to another manager. The lease also keeps the names before it, whose
 *  objects the operator takes over. Requests are repeated until the API server answers; only 403 counts as a refusal.
 *  Not here: the configured name (options.ts), the objects of earlier names (../pass/earlier-names.ts), the election (leader.ts). */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { leasesPath } from './resource-path.ts';
import { type Timers, untilResolved } from './timers.ts';
import { type Transport, unlessStatus } from './transport.ts';

export type NameSources = {
  readonly transport: Transport;
  readonly timers: Timers;
  readonly config: KubeConfig;
  /** The name in the options; empty when there is none. */
  readonly configured: string;
  /** The lease that keeps the name. */
  readonly lease: { readonly namespace: string; readonly name: string };
  readonly onProblem: (problem: Error) => void;
};

/** The name of a cluster, and the names that its operator had before. */
export type ClusterNames = { readonly name: string; readonly earlier: readonly string[] };

/** The names as the lease keeps them. `uid` is that of kube-system when it was last read. */
type StoredNames = ClusterNames & { readonly uid?: string | undefined };

/** The facts about the cluster at the start of the operator. */
type NameFacts = {
  readonly configured: string;
  readonly stored: StoredNames | undefined;
  /** The uid of kube-system; undefined without the right to read it. */
  readonly uid: string | undefined;
  readonly digest: string;
  /** The lease, for messages. */
  readonly lease: string;
};

/** The annotation of the lease with the names, as JSON. */
export const CLUSTER_NAME_ANNOTATION = 'pergola.dev/cluster-name';

const PATH = '/api/v1/namespaces/kube-system';
const BACKOFF = { leastMs: 500, mostMs: 15_000 };

/** Returns the names to keep. Throws when the lease belongs to another cluster than the API server. */
function namesFrom({ configured, stored, uid, digest, lease }: NameFacts): StoredNames {
  const isOther = stored?.uid !== undefined && uid !== undefined && stored.uid !== uid;
  if (isOther && configured === '') {
    throw new Error(
      `the Lease ${lease} names the cluster ${stored.name}, whose namespace kube-system had the uid ${stored.uid}, and here it has the ` +
        `uid ${uid}: set operator.clusterName to ${stored.name} if this cluster replaces that one, or to ${uid} if both exist`,
    );
  }
  const kept = isOther ? undefined : stored;
  const derived = [uid, digest].filter((name) => name !== undefined);
  const name = configured || kept?.name || derived[0]!;
  // With a configured name, operators of the same cluster may be told apart.
  const others = [...(kept ? [kept.name, ...kept.earlier] : []), ...(configured === '' ? derived : [])];
  const earlier = [...new Set(others)].filter((other) => other !== name);
  return { name, earlier, uid: uid ?? kept?.uid };
}

/** Returns the names of the cluster, once the lease keeps them; undefined when the signal is aborted first. */
export function namesOfCluster(sources: NameSources, signal: AbortSignal): Promise<ClusterNames | undefined> {
  const { timers, onProblem } = sources;
  const learn = async () => {
    const lease = await readLease(sources, signal);
    const names = namesFrom({
      configured: sources.configured,
      stored: storedIn(lease),
      uid: await uidOfCluster(sources, signal),
      digest: await digestOfAuthority(sources.config),
      lease: `${sources.lease.namespace}/${sources.lease.name}`,
    });
    await keep(sources, lease, names, signal);
    return names;
  };
  return untilResolved(learn, { timers, backoff: BACKOFF, onProblem }, signal);
}

async function uidOfCluster({ transport }: NameSources, signal: AbortSignal): Promise<string | undefined> {
  type Namespace = { readonly metadata: { readonly uid: string } };
  const read = transport.send<Namespace>({ method: 'GET', path: PATH, signal });
  return (await unlessStatus(read, 403))?.metadata.uid;
}

async function digestOfAuthority(config: KubeConfig): Promise<string> {
  const { caData, caFile, server } = config.getCurrentCluster() ?? {};
  // In a pod the file has the same path in every cluster.
  const authority = caData ?? (caFile === undefined ? undefined : await readFile(caFile, 'base64'));
  return createHash('sha256')
    .update(authority ?? server ?? '')
    .digest('hex')
    .slice(0, 24);
}

type StoringLease = {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
};

/** Returns the lease; undefined when it does not exist or may not be read. */
function readLease(sources: NameSources, signal: AbortSignal): Promise<StoringLease | undefined> {
  const path = `${leasesPath(sources.lease.namespace)}/${sources.lease.name}`;
  return unlessStatus(sources.transport.send<StoringLease>({ method: 'GET', path, signal }), 403, 404);
}

function storedIn(lease: StoringLease | undefined): StoredNames | undefined {
  const text = lease?.metadata.annotations?.[CLUSTER_NAME_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const { name, earlier, uid } = JSON.parse(text) as Partial<StoredNames>;
    if (typeof name !== 'string' || name === '') return undefined;
    return { name, earlier: Array.isArray(earlier) ? earlier : [], uid };
  } catch {
    return undefined;
  }
}

/** Writes the names to the lease if it has others. Replicas may do so at once: a conflict is a reason to start again. An operator without
 *  the right to write leases keeps no name. */
async function keep(
  sources: NameSources,
  lease: StoringLease | undefined,
  names: StoredNames,
  signal: AbortSignal,
): Promise<void> {
  const { transport, lease: at } = sources;
  const text = JSON.stringify(names);
  const annotations = { ...lease?.metadata.annotations, [CLUSTER_NAME_ANNOTATION]: text };
  if (lease?.metadata.annotations?.[CLUSTER_NAME_ANNOTATION] === text) return;
  const body = lease
    ? { ...lease, metadata: { ...lease.metadata, annotations } }
    : {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: at.name, namespace: at.namespace, annotations },
        spec: {},
      };
  const path = leasesPath(at.namespace);
  const written = lease
    ? transport.send({ method: 'PUT', path: `${path}/${at.name}`, body, signal })
    : transport.send({ method: 'POST', path, body, signal });
  await unlessStatus(written, 403);
}
