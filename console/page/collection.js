/** The resource that stores an operation: a QueryCollection with one query.
 *  Pure. In: names, the text of an operation. Out: YAML. Not here: the fields of the page (collection-pane.jsx). */

/** Returns the resource. The text is a literal block, whose lines are as they were written. */
export function collectionResource({ collection, name, query }) {
  const lines = query
    .trim()
    .split(/\r?\n/)
    .map((line) => (line === '' ? '' : `        ${line}`));
  return `apiVersion: pergola.dev/v1alpha1
kind: QueryCollection
metadata:
  name: ${resourceName(collection)}
spec:
  name: ${JSON.stringify(collection)}
  queries:
    - name: ${JSON.stringify(name)}
      query: |-
${lines.join('\n')}
`;
}

/** Returns a name that Kubernetes accepts. */
export function resourceName(text) {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 63)
    .replace(/-+$/, '');
  return /^[a-z]/.test(name) ? name : `x-${name}`.replace(/-+$/, '');
}
