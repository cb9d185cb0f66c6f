/** docs/reference/operations.md: every row of OPERATIONS with its arguments, read off their schemas. */

import type { Endpoint, OperationDeclaration } from '../../engine/metadata/operations/row.ts';
import {
  namesAt,
  OPERATION_NAMES,
  OPERATIONS,
  type OperationName,
} from '../../engine/metadata/operations.ts';
import { BoolExp, QualifiedName } from '../../engine/metadata/schema/common.ts';
import type { TSchema } from '../../engine/metadata/schema/type.ts';
import { asJsonSchema, type JsonSchema } from '../../engine/metadata/walk-schema.ts';
import { code, page, table } from './markdown.ts';

const ENDPOINTS: readonly Endpoint[] = ['/v1/query', '/v1/metadata', '/v2/query'];

export function operationsPage(): string {
  return page(
    'Admin operations',
    'Generated from `engine/metadata/operations.ts` by `make generate`.',
    [
      'A request is `{"type": …, "args": …}`, with `version` if it is not 1, and with `resource_version` to change the document only',
      'if it still has that version. Wherever a table is expected, `"author"` means `{"schema": "public", "name": "author"}`.',
      'Operations "for the console" may also be performed with the [console secret](behaviour/authentication.md#console-secret).',
      '[Behaviour: metadata API](behaviour/metadata-api.md) describes responses, errors and batches.',
    ].join('\n'),
    ...OPERATION_NAMES.map(section),
  );
}

function section(name: OperationName): string {
  const { args, summary, versions, effect, isForConsole }: OperationDeclaration = OPERATIONS[name];
  const offers = ENDPOINTS.filter((endpoint) => namesAt(name, endpoint).length > 0).map(
    (endpoint) => `${code(endpoint)} as ${namesAt(name, endpoint).map(code).join(' or ')}`,
  );
  const facts = `${offers.join(', ')}. ${versions.length > 1 ? `Versions ${versions.join(' and ')}. ` : ''}Effect: ${effect}.${isForConsole ? ' For the console.' : ''}`;
  return [`## ${name}`, summary, facts, argumentsOf(args)].join('\n\n');
}

function argumentsOf(schema: TSchema): string {
  const { type, properties = {}, required = [] } = asJsonSchema(schema);
  if (type === 'array') return 'Arguments: a list of requests.';
  const rows = Object.entries(properties).map(([key, sub]) => [
    code(key),
    code(typeOf(sub)),
    key === 'source' ? 'default `default`' : required.includes(key) ? 'yes' : 'no',
  ]);
  return rows.length === 0 ? 'Arguments: `{}`.' : table(['Argument', 'Type', 'Required'], rows);
}

/** A short name of the shape; deep ones are told by their keys. */
function typeOf(schema: JsonSchema): string {
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.properties === QualifiedName.properties) return 'Table';
  if (schema === asJsonSchema(BoolExp)) return 'BoolExp';
  if (schema.items) return `[${typeOf(schema.items)}]`;
  if (schema.patternProperties)
    return `{name: ${Object.values(schema.patternProperties).map(typeOf).join()}}`;
  if (schema.properties) return `{${Object.keys(schema.properties).join(', ')}}`;
  return schema.type ?? 'any';
}
