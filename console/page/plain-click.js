/** True for a click that follows a link here. One with a modifier opens it in another tab, as usual. */
export function isPlainClick({ button, ctrlKey, metaKey, shiftKey, altKey }) {
  return button === 0 && !ctrlKey && !metaKey && !shiftKey && !altKey;
}
