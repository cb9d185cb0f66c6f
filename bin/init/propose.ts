/** A database → the metadata that people would have written for it: tables and views, enum tables, relationships, computed fields, functions,
 *  and the permissions of a role that reads everything.
 *  In: a Survey, the metadata of the folder, wishes. Out: the metadata with what is new. Pure.
 *  Not here: the steps (one file each), resources (resources.ts). */
import type { Metadata, MetadataObject } from '../../engine/metadata/index.ts';
import { type Draft, startDraft, type Wishes } from './draft.ts';
import { proposeCalls } from './functions.ts';
import { withPermissions } from './permissions.ts';
import type { Survey } from './read-database.ts';
import { withRelationships } from './relationships.ts';
import { selectTables } from './selection.ts';
import { withTables } from './tables.ts';

export type Proposal = Pick<Draft, 'metadata' | 'added' | 'selection' | 'leftOut' | 'catalog'> & {
  /** The functions that may change data. They are written as comments. */
  readonly volatile: readonly MetadataObject[];
  /** The reasons why resources of the folder do not fit the database, by the key of the object. */
  readonly broken: ReadonlyMap<string, string>;
};

/** Raises SchemaProblem. */
export function propose(survey: Survey, folder: Metadata, wishes: Wishes): Proposal {
  const selection = selectTables(survey, wishes.schemas);
  const { draft, broken } = startDraft(survey.catalog, selection, folder, wishes);
  const related = withRelationships(withTables(draft, survey.enums), survey.origins);
  const { draft: called, volatile } = proposeCalls(related);
  return { ...withPermissions(called), volatile, broken };
}
