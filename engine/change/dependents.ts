/** Prints dependents for messages: keys of metadata objects → `relationship article.author in source "default"`.
 *  Not here: finding dependents (metadata/dependencies.ts, resolve/). Spec: "Errors", dependency-error. */
import { printQualified } from '../metadata/schema/common.ts';

/** Prints dependents, sorted so that the text is deterministic, and joined as in the specification. */
export function printDependents(keys: readonly string[]): string {
  return keys.map(printDependent).sort().join(', ');
}

function printDependent(key: string): string {
  const [kind = '', ...encoded] = key.split('/');
  const [source = '', schema = '', object = '', name = ''] = encoded.map(decodeURIComponent);
  const table = printQualified({ schema, name: object });
  const where = `in source "${source}"`;
  const permission = /^(select|insert|update|delete)_permission$/.exec(kind);
  if (permission) return `permission ${table}.${name}.${permission[1]} ${where}`;
  if (kind === 'logical_model_permission') return `permission ${schema}.${object}.select ${where}`;
  if (kind === 'remote_schema_permission') return `remote schema permission ${source}."${schema}"`;
  if (kind === 'event_trigger') return `event-trigger ${table}.${name} ${where}`;
  if (/^(object|array)_relationship$/.test(kind)) return `relationship ${table}.${name} ${where}`;
  if (kind === 'remote_schema_relationship') {
    return `remote_relationship ${object} on type ${schema} in remote schema ${source}`;
  }
  const words = kind.replaceAll('_', ' ');
  if (/^(native_query|logical_model)$/.test(kind)) return `${words} ${schema} ${where}`;
  if (encoded.length === 4) return `${words} ${table}.${name} ${where}`;
  if (encoded.length === 3) return `${words} ${table} ${where}`;
  return `${words} ${encoded.map(decodeURIComponent).join('.')}`;
}
