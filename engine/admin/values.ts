/** Operations on named values: set, delete, list, encrypt again. They take effect at once, also within a batch that fails later, because
 *  a value is no part of the document.
 *  No answer, error or log contains a value. Only a dry run of `set_values` says whether a value is the same: an administrator learns that from
 *  versions, too.
 *  Not here: encryption (values/seal.ts), rows (store/values.ts). Reference: docs/guides/secrets.md. */
import { fail } from '../errors/engine-error.ts';
import { valuesOfPendingEvents } from '../events/scheduled-log.ts';
import { OneOffEvent } from '../metadata/schema/event.ts';
import { Metadata } from '../metadata/schema/metadata.ts';
import { variablesIn } from '../metadata/variables.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';
import type { SealedValue } from '../values/named-values.ts';
import { seal, unseal, type ValueKey } from '../values/seal.ts';
import type { Performer } from './request.ts';

/** Raises `valuesKeyMissing`. A value that is set to what it is keeps its version. Of two values with one name the last one counts. */
export const setValues: Performer<'set_values'> = async (work, { values, dry_run: isDryRun = false }) => {
  const [first, ...others] = work.gateway.values.keys;
  if (!first) return fail('valuesKeyMissing', {});
  const wanted = new Map(values.map(({ name, value }) => [name, value]));
  if (isDryRun) {
    const { rows } = await work.gateway.store.values();
    const known = new Map(rows.map((row) => [row.name, textOf(row, [first, ...others])]));
    const changeOf = (name: string, value: string) => {
      if (!known.has(name)) return 'create';
      return known.get(name) === value ? 'none' : 'update';
    };
    const changes = [...wanted].map(([name, value]) => ({ name, change: changeOf(name, value) }));
    return () => ({ message: 'success', values: changes });
  }
  await work.gateway.changeValues([...wanted.keys()], (stored) => {
    const known = new Map(stored.map((row) => [row.name, textOf(row, [first, ...others])]));
    const changed = [...wanted].filter(([name, value]) => known.get(name) !== value);
    const set = changed.map(([name, value]) => ({ name, keyId: first.id, sealed: seal(name, value, first) }));
    return { set, removed: [] };
  });
  const versions = work.gateway.values.list().filter(({ name }) => wanted.has(name));
  return () => ({ message: 'success', values: versions.map(({ name, version }) => ({ name, version })) });
};

export const deleteValues: Performer<'delete_values'> = async (work, { names, force = false }) => {
  const used = force ? NOTHING : await valuesInUse(work);
  const { removed } = await work.gateway.changeValues(names, (stored, { resource }) => {
    // Another replica may have added a reference since this request read the document.
    const isCurrent = force || resource === work.base.resourceVersion;
    const removable = stored.filter(({ name }) => isCurrent && !used.has(name));
    return { set: [], removed: removable.map(({ name }) => name) };
  });
  const kept = new Set(work.gateway.values.list().map(({ name }) => name));
  return () => ({
    message: 'success',
    deleted: removed,
    kept: [...new Set(names)].filter((name) => kept.has(name)),
  });
};

export const listValues: Performer<'list_values'> = (work, { prefix = '' }) => {
  const known = work.gateway.values.list().filter(({ name }) => name.startsWith(prefix));
  const values = known.map(({ name, version, keyId, status }) => ({ name, version, key: keyId, status }));
  return () => ({ keys: work.gateway.values.keys.map(({ id }) => id), values });
};

/** Raises `valuesKeyMissing`. Values that cannot be decrypted stay as they are and are listed. */
export const reencryptValues: Performer<'reencrypt_values'> = async (work) => {
  const keys = work.gateway.values.keys;
  const [first] = keys;
  if (!first) return fail('valuesKeyMissing', {});
  const { resealed = [] } = await work.gateway.changeValues(undefined, (stored) => {
    const outdated = stored.filter(({ keyId }) => keyId !== first.id);
    const resealed = outdated.flatMap((row) => {
      const text = textOf(row, keys);
      if (text === undefined) return [];
      return [{ name: row.name, keyId: first.id, sealed: seal(row.name, text, first) }];
    });
    return { set: [], resealed, removed: [] };
  });
  const unusable = work.gateway.values.list().filter(({ status }) => status !== 'usable');
  return () => ({
    message: 'success',
    reencrypted: resealed.length,
    unusable: unusable.map(({ name }) => name),
  });
};

const NOTHING: ReadonlySet<string> = new Set();

function textOf({ name, keyId, sealed }: SealedValue, keys: readonly ValueKey[]): string | undefined {
  const key = keys.find(({ id }) => id === keyId);
  return key && unseal(name, sealed, key);
}

/** Returns the names of the values that the document or a one-off event that is not delivered yet refers to. */
async function valuesInUse(work: UnitOfWork): Promise<ReadonlySet<string>> {
  const events = await valuesOfPendingEvents(work.gateway.metadataDatabase);
  const references = [
    ...variablesIn(Metadata, work.metadata),
    ...events.flatMap((definition) => variablesIn(OneOffEvent, definition)),
  ];
  return new Set(
    references.flatMap(({ name }) => (name.startsWith('value:') ? [name.slice('value:'.length)] : [])),
  );
}
