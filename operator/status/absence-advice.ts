/** Advice on columns and tables that a resource names and the database does not have: they were dropped, renamed, or not yet created.
 *  In: messages of the engine. Out: sentences. Pure. Not here: the messages (engine/resolve). */

const COLUMN = /column "([^"]+)" does not exist(?:; the nearest name is "([^"]+)")?/g;
const TABLES = [
  /no such table\/view exists in source: "([^"]+)"(?:; the nearest name is "([^"]+)")?/g,
  /table "([^"]+)" does not exist in source: \w+(?:; the nearest name is "([^"]+)")?/g,
];

/** Returns a sentence for each column and table that the message says does not exist. */
export function absenceAdvice(message: string): readonly string[] {
  const columns = [...message.matchAll(COLUMN)].map(([, name, near]) => columnAdvice(name!, near));
  const tables = TABLES.flatMap((pattern) => [...message.matchAll(pattern)]).map(([, name, near]) =>
    tableAdvice(name!, near),
  );
  return [...new Set([...columns, ...tables])];
}

function columnAdvice(name: string, near: string | undefined): string {
  return `Column "${name}": if ${renamedText(near)} in the resources (customName in columns of the Table keeps the old name in the API); if it was dropped, remove it from them; else add it to the table.`;
}

function tableAdvice(name: string, near: string | undefined): string {
  return `Table "${name}": if ${renamedText(near)} as table in the resources (customName of the Table keeps the old name in the API); if it was dropped, delete its Table, permissions and relationships; else create it.`;
}

function renamedText(near: string | undefined): string {
  return near === undefined ? 'it was renamed, write its new name' : `it is now "${near}", write that`;
}
