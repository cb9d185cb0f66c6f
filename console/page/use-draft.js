/** The form of a kind as it was left in this tab, so that a reload and the way back keep it. Secrets are not kept.
 *  Out: `{written, name, owner, left, filled}`: the values, the name that the user gave the resource, that of the owner with which the form was filled, the paths
 *  of secrets that are not in the values, and what the form was filled with. Not here: the form (spec-form.jsx). */
import { useState } from 'react';
import { parseWithAllDigits } from './digits.js';
import { useKept } from './session.js';
import { withoutSecrets } from './spec-secrets.js';

export const EMPTY = { written: {}, name: '', owner: '', left: [], filled: null };

/** Returns the draft, and a function that changes some of its members. */
export function useDraft({ kind, spec: schema }) {
  const [text, keep] = useKept(`pergola-draft-${kind}`);
  const [draft, setDraft] = useState(() => (text === '' ? EMPTY : { ...EMPTY, ...parseWithAllDigits(text) }));
  const change = (part) => {
    const next = { ...draft, ...part };
    const { kept, left } = withoutSecrets(schema, next.written);
    setDraft(next);
    const { name, owner } = next;
    keep(JSON.stringify({ written: kept, name, owner, left: [...new Set([...next.left, ...left])] }));
  };
  return [draft, change];
}
