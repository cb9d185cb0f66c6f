/** The sources of a document that the engine cannot serve, because they do not speak PostgreSQL's protocol. They stay in the document as they are
 *  given, are inconsistent, and hinder nothing else. In: a document. Out: their names and kinds. Pure.
 *  Not here: how they are kept (normal-form.ts), what is said of them (state/gateway.ts). */
import { isRecord } from '../json/value.ts';
import { type ForeignSource, foreignKindOf } from './schema/source.ts';

/** Returns the sources that the engine cannot serve. The document may be one that is not validated yet. */
export function foreignSources({ sources }: { readonly sources?: unknown }): readonly ForeignSource[] {
  if (!Array.isArray(sources)) return [];
  return sources.filter(isRecord).flatMap((source) => {
    const kind = foreignKindOf(source);
    return kind === undefined ? [] : [{ name: String(source['name']), kind }];
  });
}

/** Returns the inconsistent objects that are not such a source. */
export function hindering<T extends { readonly name: string }>(
  document: { readonly sources?: unknown },
  inconsistent: readonly T[],
): readonly T[] {
  const foreign = new Set(foreignSources(document).map(({ name }) => `source ${name}`));
  return inconsistent.filter(({ name }) => !foreign.has(name));
}
