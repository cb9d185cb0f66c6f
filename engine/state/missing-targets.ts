/** The targets that a snapshot lacks: sources and remote schemas without an answer, and replicas and members of connection sets that have
 *  not answered yet. In: the snapshot, the gateway, what follows from an answer. Out: targets to try again.
 *  Not here: when they are tried (target-recovery.ts), how an answer is taken in (take-in.ts). */
import type { OtherConnection } from '../database/sources.ts';
import { type Gateway, keyOfRemote, keyOfSource } from './gateway.ts';
import { keyOfOther } from './other-connections.ts';
import type { Snapshot } from './snapshot.ts';
import { type Arrival, isWithoutAnswer } from './take-in.ts';
import type { MissingTarget } from './target-recovery.ts';

type Consequences = {
  /** Publishes the answer of a source or a remote schema. */
  readonly takeIn: (arrival: Arrival) => Promise<void>;
  /** Publishes that a replica or a member has answered. */
  readonly publishAgain: () => Promise<unknown>;
};

export function missingTargets(
  { metadata, catalogs, upstreams }: Snapshot,
  gateway: Gateway,
  { takeIn, publishAgain }: Consequences,
): readonly MissingTarget[] {
  const target = (key: string, seen: object | undefined, read: () => Promise<Arrival['answer']>) => ({
    key,
    attempt: async () => {
      const answer = await gateway.readings.begin(key, read, { isFresh: true }).answer;
      if ('error' in answer) return false;
      await takeIn({ key, answer, seen });
      return true;
    },
  });
  const connection = (other: OtherConnection) => ({
    key: keyOfOther(other),
    attempt: async () => {
      const attempted = await gateway.tryOther(other);
      gateway.others.note(other, attempted);
      if (attempted.error !== undefined) return false;
      await publishAgain();
      return true;
    },
  });
  const sources = metadata.sources.flatMap((source) => {
    const known = catalogs.get(source.name);
    const silent = gateway.silentOthers(source).map(({ other }) => connection(other));
    if (!known || !isWithoutAnswer(known)) return silent;
    return [...silent, target(keyOfSource(source), known.awaits, () => gateway.introspect(source))];
  });
  const remotes = (metadata.remote_schemas ?? []).flatMap((remote) => {
    const known = upstreams.get(remote.name);
    if (!known || !isWithoutAnswer(known)) return [];
    const read = () => gateway.introspectRemote(remote, metadata);
    return [target(keyOfRemote(remote), known.awaits, read)];
  });
  return [...sources, ...remotes];
}
