/** A button that copies a text, and says that it did. */
import { useState } from 'react';
import { copy } from './copy.js';

export function CopyButton({ text }) {
  const [copied, setCopied] = useState(null);
  return (
    <>
      <button type="button" onClick={() => copy(text).then((isCopied) => setCopied(isCopied ? text : null))}>
        Copy
      </button>
      <span role="status">{copied === text ? 'Copied.' : ''}</span>
    </>
  );
}
