/** The clipboard. Not here: what is copied (copy-button.jsx, data-exports.jsx). */

/** Copies a text and resolves to true, or to false where the browser does not allow it. Without HTTPS there is no clipboard to write to. */
export async function copy(text) {
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
