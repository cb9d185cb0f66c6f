/** Checks a source's configuration before it is stored: names in the connection set are unique, and the connection template can be
 *  parsed. Raises `multipleDeclarations`, `parseFailed` with a path. A stored configuration is not checked again; its requests fail.
 *  Not here: the connection that a template selects (connection.ts). */
import { fail, withPath } from '../errors/engine-error.ts';
import type { SourceConfiguration } from '../metadata/schema/source.ts';
import { parseChecked, TransformError } from './render.ts';

export function checkConnections({ connection_set, connection_template }: SourceConfiguration): void {
  const names = (connection_set ?? []).map(({ name }) => name);
  const again = names.findIndex((name, i) => names.indexOf(name) < i);
  if (again >= 0) {
    const path = ['connection_set', again, 'name'];
    fail('multipleDeclarations', { kind: 'connection', names: names[again]! }, { path });
  }
  if (connection_template) {
    withPath('connection_template', () => withPath('template', () => read(connection_template.template)));
  }
}

function read(template: string): void {
  try {
    parseChecked(template);
  } catch (error) {
    if (!(error instanceof TransformError)) throw error;
    fail('parseFailed', { text: `the template cannot be read: ${error.message}` });
  }
}
