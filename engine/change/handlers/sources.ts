/** Operations on sources. Reference: docs/reference/behaviour/metadata-api.md.
 *  Not here: connecting to them (database/sources.ts). */
import { fail, withPath } from '../../errors/engine-error.ts';
import { isRecord } from '../../json/value.ts';
import { foreignDependentsOf, removeObjects } from '../../metadata/dependencies.ts';
import { putObject, removeObject } from '../../metadata/edit.ts';
import { renameObject } from '../../metadata/names.ts';
import { findObject, objectKey } from '../../metadata/objects.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import type { Source } from '../../metadata/schema/source.ts';
import { checkConnections } from '../../transform/check-connections.ts';
import { printDependents } from '../dependents.ts';
import type { Handler } from './handler.ts';
import { editObject, requireAnySource, requireSource } from './handler.ts';

/** Raises `sourceExists` unless the configuration is to be replaced; what is tracked in the source stays. */
export const addSource: Handler<'pg_add_source'> = (draft, args) => {
  const { replace_configuration, ...given } = args;
  const key = objectKey('source', args.name);
  const known = findObject(draft, key);
  if (known && !replace_configuration) fail('sourceExists', { source: args.name });
  withPath('configuration', () => checkConnections(args.configuration));
  const definition = { kind: 'postgres', ...given };
  return putObject(known ? dropSettings(draft, args.name) : draft, {
    key,
    kind: 'source',
    parent: null,
    definition,
  });
};

/** Changes only the settings that are given; an empty one is removed. Raises `sourceNotFound`. */
export const updateSource: Handler<'pg_update_source'> = (draft, args) => {
  requireSource(draft, args.name);
  const { configuration } = args;
  if (configuration) withPath('configuration', () => checkConnections(configuration));
  const isEmpty = (setting: unknown) => isRecord(setting) && Object.keys(setting).length === 0;
  const changes = Object.entries(args).map(([key, value]) => [key, isEmpty(value) ? undefined : value]);
  return editObject(draft, objectKey('source', args.name), Object.fromEntries(changes));
};

/** Replaces all query tags of a source. Raises `sourceNotFound`. */
export const setQueryTags: Handler<'set_query_tags'> = (draft, { source_name: name, ...query_tags }) => {
  requireSource(draft, name);
  return editObject(draft, objectKey('source', name), { query_tags });
};

/** Raises `sourceNotFound`; `cannotDropDependents` when another source leads here. */
export const dropSource: Handler<'pg_drop_source'> = (draft, { name, cascade }) => {
  requireAnySource(draft, name);
  const key = objectKey('source', name);
  const foreign = foreignDependentsOf(draft, key);
  if (foreign.length > 0 && !cascade) {
    fail('cannotDropDependents', { dependents: printDependents(foreign) });
  }
  return removeObject(removeObjects(draft, foreign), key);
};

/** Renames a source, also in the relationships of other sources, of remote schemas and of custom types. Raises `sourceNotFound`, `sourceExists`. */
export const renameSource: Handler<'rename_source'> = (draft, { name, new_name }) => {
  requireSource(draft, name);
  if (name === new_name) return draft;
  if (draft.sources.some((source) => source.name === new_name)) fail('sourceExists', { source: new_name });
  return renameObject(draft, objectKey('source', name), new_name);
};

/** Removes the settings that a replacement does not keep. */
function dropSettings(draft: Metadata, name: string): Metadata {
  const strip = ({ customization, query_tags, health_check, ...source }: Source): Source => source;
  return { ...draft, sources: draft.sources.map((s) => (s.name === name ? strip(s) : s)) };
}
