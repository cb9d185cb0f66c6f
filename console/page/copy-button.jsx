/** A button that copies a text, and says that it did. */
import { useState } from 'react';

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

/** Copies a text and resolves to true, or to false where the browser does not allow it. Without HTTPS there is no clipboard to write to. */
async function copy(text) {
  if (navigator.clipboard) {
    const isWritten = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
    if (isWritten) return true;
  }
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  return isCopied;
}
