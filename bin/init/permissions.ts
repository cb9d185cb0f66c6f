/** The permissions of a role that reads everything: every column of every table and view, except columns whose name says that they hold a
 *  secret. In: a draft. Out: the draft with one select permission per table. Pure. Not here: filters, which only people know. */
import { type MetadataObject, objectKey } from '../../engine/metadata/index.ts';
import { printQualified } from '../../engine/metadata/schema/common.ts';
import type { ResolvedTable } from '../../engine/resolve/model/table.ts';
import { type Draft, withAdditions } from './draft.ts';
import { wordsOf } from './words.ts';

/** The words of columns that hold secrets, alone or as `api key`. */
const SECRET_WORDS: ReadonlySet<string> = new Set([
  ...['password', 'passwd', 'pwd', 'passphrase', 'secret', 'token', 'salt', 'credential', 'credentials'],
  ...['apikey', 'otp', 'totp', 'cvv', 'cvc'],
]);
const SECRET_PAIRS: ReadonlySet<string> = new Set(['api key', 'private key', 'secret key', 'access key']);

export function withPermissions(draft: Draft): Draft {
  const { role, offered, source } = draft.wishes;
  if (role === undefined) return draft;
  const tables = [...draft.source.tables].flatMap(([key, table]) =>
    draft.selection.tables.has(key) && !table.permissions.has(role) ? [table] : [],
  );
  const objects = tables
    .filter(({ columns }) => columns.some(({ name }) => !isSecret(name)))
    .map((table) => readPermission(table, role, source))
    .filter(({ key }) => !offered.has(key));
  const hidden = tables.flatMap((table) =>
    table.columns
      .filter(({ name }) => isSecret(name))
      .map(({ name }) => ({
        what: `column ${printQualified(table.table)}.${name}`,
        why: `its name says that it holds a secret, so ${role} does not read it`,
      })),
  );
  return withAdditions({ ...draft, leftOut: [...draft.leftOut, ...hidden] }, objects);
}

function readPermission(table: ResolvedTable, role: string, source: string): MetadataObject {
  const { schema, name } = table.table;
  const scalars = [...table.computedFields.values()].filter(({ returns }) => returns.kind !== 'rows');
  const computed = scalars.length > 0 ? { computed_fields: scalars.map((field) => field.name) } : {};
  const columns = table.columns.map((column) => column.name).filter((column) => !isSecret(column));
  return {
    key: objectKey('select_permission', source, schema, name, role),
    kind: 'select_permission',
    parent: objectKey('table', source, schema, name),
    definition: { role, permission: { columns, filter: {}, ...computed } },
  };
}

function isSecret(column: string): boolean {
  const words = wordsOf(column).map((word) => word.toLowerCase());
  return (
    words.some((word) => SECRET_WORDS.has(word)) ||
    words.some((word, i) => SECRET_PAIRS.has(`${word} ${words[i + 1] ?? ''}`))
  );
}
