/** What can be said of a source's connections before a request takes one: names of the set are said once, and the template can
 *  be read. In: a source's configuration, to be stored. Raises `multipleDeclarations`, `parseFailed` with a path in it.
 *  Not here: what a template chooses (connection.ts). What is stored already is not judged anew: its requests are told. */
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
