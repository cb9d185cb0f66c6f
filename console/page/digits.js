/** JSON whose numbers keep all of their digits, where the browser can: a number that JavaScript would change becomes raw JSON, which
 *  `JSON.stringify` prints as it was. Pure. */

export function parseWithAllDigits(text) {
  return JSON.parse(text, (_, value, { source } = {}) => {
    const isChanged = typeof value === 'number' && source !== undefined && String(value) !== source;
    return isChanged && JSON.rawJSON ? JSON.rawJSON(source) : value;
  });
}

export function isNumber(value) {
  return typeof value === 'number' || JSON.isRawJSON?.(value) === true;
}
