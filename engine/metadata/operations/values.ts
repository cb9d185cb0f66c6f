/** Operations on named values. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { ValueName } from '../schema/common.ts';
import { Type } from '../schema/type.ts';
import { flag } from './arguments.ts';
import { type OperationDeclaration, row } from './row.ts';

/** The most characters of a named value, and the most values of one request. */
const MOST_VALUE_CHARACTERS = 65_536;

const MOST_VALUES = 1000;

export const VALUE_OPERATIONS = {
  set_values: row(
    'values',
    'Stores named values, which metadata refers to with from_value. Values are encrypted, and no operation returns them. `dry_run` stores ' +
      'nothing and says of each name whether its value would be new, changed or the same.',
    {
      dry_run: flag,
      values: Type.Array(
        Type.Object(
          { name: ValueName, value: Type.String({ minLength: 1, maxLength: MOST_VALUE_CHARACTERS }) },
          { additionalProperties: false },
        ),
        { maxItems: MOST_VALUES },
      ),
    },
  ),
  delete_values: row(
    'values',
    'Deletes named values. Keeps those that the metadata or a scheduled event refers to, unless force is true.',
    { names: Type.Array(ValueName, { maxItems: MOST_VALUES }), force: flag },
  ),
  list_values: row(
    'read',
    'Lists the names of named values with their version, status and the ID of their key. Never returns a value.',
    { prefix: Type.Optional(Type.String()) },
  ),
  reencrypt_values: row(
    'values',
    'Encrypts every named value again that is not encrypted under the first key, so that earlier keys can be removed.',
    {},
  ),
} as const satisfies Record<string, OperationDeclaration>;
