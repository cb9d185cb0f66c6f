/** Notes are what the operator stores with the ledger for the console of the engine, besides who owns what: resources that are not served, results of
 *  tests, manifests. In: the stored state, patches. Out: notes. Pure.
 *  Not here: each of them (unserved.ts, test-results.ts, manifests.ts), writing them (pass/notes.ts). */
import { type ManifestsPatch, readManifests, type StoredManifests } from './manifests.ts';
import { patchedRecords } from './stored-records.ts';
import { readTestResults, type StoredTestResults, type TestResultsPatch } from './test-results.ts';
import { readUnserved, type UnservedPatch, type UnservedResources } from './unserved.ts';

export type Notes = {
  readonly unserved?: UnservedResources;
  readonly tests?: StoredTestResults;
  readonly manifests?: StoredManifests;
};

/** The changes of notes; a member is absent when none of it changes. */
export type NotesPatch = {
  readonly unserved?: UnservedPatch;
  readonly tests?: TestResultsPatch;
  readonly manifests?: ManifestsPatch;
};

export function readNotes(state: unknown): Notes {
  return {
    unserved: readUnserved(state),
    tests: readTestResults(state),
    manifests: readManifests(state),
  };
}

/** Returns the notes after the patch. */
export function patchedNotes(before: Notes, patch: NotesPatch): Notes {
  return {
    unserved: patchedRecords(before.unserved, patch.unserved),
    tests: patchedRecords(before.tests, patch.tests),
    manifests: patchedRecords(before.manifests, patch.manifests),
  };
}

/** Returns the patch without the members in which nothing changes; undefined when nothing does. */
export function changedNotes(patch: NotesPatch): NotesPatch | undefined {
  const changed = Object.entries(patch).filter(([, changes]) => Object.keys(changes).length > 0);
  return changed.length > 0 ? Object.fromEntries(changed) : undefined;
}
