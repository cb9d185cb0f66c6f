/** Says which objects that a form names exist already, and fills the form from them, so that a change begins with what there is.
 *  In: what exists (use-existing.js), the draft, the paths of secrets that it lacks. Not here: the effect of a change (effects.jsx). */
import { useEffect } from 'react';
import { printedKey } from './object-key.js';
import { withoutNames } from './resource.js';

/** The most objects that are named. */
const MOST_NAMED = 3;

export function Existing({ row, draft, existing, left, onChange }) {
  const isBare = Object.keys(withoutNames(row, draft.written)).length === 0;
  const fill = () => {
    const { spec: written, left: secrets, ownerName: owner = '' } = existing;
    onChange({ written, left: secrets, filled: existing, owner });
  };
  const mayFill = existing?.spec !== undefined;
  const keys = existing?.keys ?? [];
  // A form that has only names is filled by itself: nothing that was entered is lost.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each object that is found
  useEffect(() => {
    if (mayFill && isBare && draft.filled === null) fill();
  }, [existing]);
  const isFilled = existing !== null && draft.filled?.names === existing.names;
  return (
    <div role="status">
      {existing?.problem && (
        <p className="problem">Whether this exists already is not known: {existing.problem}</p>
      )}
      {keys.length > 0 && (
        <p>
          {isFilled ? 'Filled from what the engine has: ' : 'The engine has this already: '}
          {namesOf(keys)}. {existing.owners.length > 0 && `It belongs to ${existing.owners.join(', ')}. `}
          {mayFill && !isFilled && (
            <button type="button" onClick={fill}>
              Fill the form from it
            </button>
          )}
        </p>
      )}
      {existing?.notes?.map((note) => (
        <p key={note} className="warning">
          {note}.
        </p>
      ))}
      {left.length > 0 && (
        <p className="warning">
          Left out, because it may be a secret or cannot be read: {left.join(', ')}.{' '}
          <button type="button" onClick={() => onChange({ left: [] })}>
            Go on without
          </button>
        </p>
      )}
    </div>
  );
}

function namesOf(keys) {
  const more = keys.length - MOST_NAMED;
  return `${keys.slice(0, MOST_NAMED).map(printedKey).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
