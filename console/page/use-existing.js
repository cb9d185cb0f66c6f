/** The objects that a form names, where the engine has them, and the spec that declares them.
 *  In: `describe_object` for each key and the manifest of `get_ownership`, without secrets. Out: `{names, keys, owners, owner, ownerName, spec,
 *  left, notes}`, of which `owner` is the owner of the same kind, with its name, and `notes` say what has no effect; `{problem}` when the engine does not say; null while there is nothing.
 *  Not here: the keys and the spec (resource.js), filling the form (existing.jsx). */
import { useEffect, useState } from 'react';
import { perform } from './requests.js';
import { keysNamed, specOf } from './resource.js';
import { withoutSecrets } from './spec-secrets.js';

/** The time between the last change of a name and the request. */
const PAUSE_MS = 300;

export function useExisting(session, row, spec) {
  const [found, setFound] = useState(null);
  const names = keysNamed(row, spec).join(' ');
  useEffect(() => {
    if (names === '') return;
    let isCurrent = true;
    const wait = setTimeout(async () => {
      const existing = await existingOf(session, row, names.split(' ')).catch(({ message }) => ({
        problem: message,
      }));
      if (isCurrent) setFound({ names, ...existing });
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(wait);
    };
  }, [session, row, names]);
  return found?.names === names && (found.problem || found.keys.length > 0) ? found : null;
}

async function existingOf(session, row, keys) {
  const question = { include_nested: true, if_exists: true };
  const answers = await Promise.all(
    keys.map((key) => perform(session, 'describe_object', { key, ...question })),
  );
  const found = answers.filter((answer) => 'definition' in answer);
  const objects = found.flatMap((answer) => [answer, ...answer.objects]);
  const kinds = row.objects.map(({ kind }) => kind);
  const own = objects.filter(({ key }) => kinds.length === 0 || kinds.includes(key.split('/')[0]));
  const owners = [...new Set(own.flatMap(({ owner }) => owner ?? []))];
  const owner = owners.find((each) => each.startsWith(`${row.kind} `));
  // The resource of the owner may declare more than these objects, and is what its author wrote.
  const manifest = owner && (await perform(session, 'get_ownership', { resource: owner })).manifest;
  const { kept, left } = withoutSecrets(row.spec, manifest?.spec ?? specOf(row, own));
  return {
    keys: own.map(({ key }) => key),
    owners,
    owner,
    ownerName: owner?.replace(/^.*\//, ''),
    spec: kept,
    left,
    notes: found.flatMap(({ not_enforced: notes }) => notes.map(({ name, reason }) => `${name}: ${reason}`)),
  };
}
