/** A resource that is opened: its objects as the engine has them, and its YAML as its author wrote it.
 *  In: `get_ownership` of the resource, and `describe_object` for an object that is opened. */
import { useState } from 'react';
import { dayAndTime } from './chart.jsx';
import { CopyButton } from './copy-button.jsx';
import { printedKey } from './object-key.js';
import { Outcome } from './problem.jsx';
import { Scrolling } from './scrolling.jsx';
import { useAnswer } from './use-answer.js';
import { yamlOf } from './yaml.js';

export function Owned({ resource, session }) {
  const { answer, problem } = useAnswer(session, 'get_ownership', { resource });
  if (!answer) return <Outcome problem={problem} />;
  return (
    <div className="details">
      <div className="wide">
        {answer.objects.map((object) => (
          <OwnedObject key={object.key} object={object} session={session} />
        ))}
        <Manifest {...answer} />
      </div>
    </div>
  );
}

/** The YAML of the resource, or why there is none. */
function Manifest({ resource, manifest, is_manifest_stored: isStored }) {
  if (!manifest) {
    return (
      <p className="faint">
        {isStored === false
          ? 'The YAML of this resource is too long to be stored in the engine.'
          : 'The operator has not stored the YAML of this resource here. Operators before 0.4.0 store none.'}
      </p>
    );
  }
  const text = yamlOf(manifest);
  return (
    <div className="manifest">
      <div className="controls">
        <strong>YAML</strong>
        <CopyButton text={text} />
      </div>
      {text.includes('(hidden)') && <p className="faint">Values that may be secrets, or data, are hidden.</p>}
      <Scrolling label={`YAML of ${resource}`} text={text} />
    </div>
  );
}

function OwnedObject({ object: { key, exists, is_deletion_held: isHeld, revoked_at: revokedAt }, session }) {
  const notes = [
    !exists && 'missing in the engine',
    isHeld && 'its deletion waits for a confirmation',
    revokedAt && `the resource may no longer own it since ${dayAndTime(revokedAt)}`,
  ].filter(Boolean);
  return (
    <>
      <ObjectButton objectKey={key} session={session} />
      {notes.length > 0 && <p className="problem">{notes.join(', ')}</p>}
    </>
  );
}

/** A button with the key of an object that shows its definition, without secrets. */
function ObjectButton({ objectKey, session }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div className="object">
      <button type="button" className="link" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        {printedKey(objectKey)}
      </button>
      {isOpen && <Definition objectKey={objectKey} session={session} />}
    </div>
  );
}

export function Definition({ objectKey, session }) {
  const { answer, problem } = useAnswer(session, 'describe_object', { key: objectKey });
  if (!answer) return <Outcome problem={problem} />;
  return (
    <>
      {answer.inconsistent_objects.map(({ reason }) => (
        <p key={reason} className="problem">
          {reason}
        </p>
      ))}
      <Scrolling label={objectKey} text={JSON.stringify(answer.definition ?? null, null, 2)} />
    </>
  );
}
