/** A resource as the text of a file for Git, whose numbers have all of their digits. Pure. */
import { printYaml } from '@pergola/engine/metadata';

export function yamlOf(resource) {
  return printYaml(resource);
}
