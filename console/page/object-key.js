/** Returns the key of an object for people: `table/default/public/two words` for `table/default/public/two%20words`. */
export function printedKey(key) {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
