/** A resource as the text of a file for Git. Pure. */
import { dump } from 'js-yaml';

export function yamlOf(resource) {
  return dump(resource, { lineWidth: -1, noRefs: true });
}
