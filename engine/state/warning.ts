/** The form of a warning in the answer of an admin operation. A leaf, so that its producers do not import each other.
 *  Not here: which changes have warnings (admin/warnings.ts, extensions.ts, admin/lists.ts). */

export type Warning = {
  readonly code:
    | 'managed-object'
    | 'not-enforced'
    | 'extension-missing'
    | 'check-of-other-rows'
    | 'illegal-event-trigger-name'
    | `${'track' | 'untrack'}-${'table' | 'function'}-failed`;
  readonly message: string;
  readonly type: string;
  /** The key of the object, or its name in words: `table author in source default`. */
  readonly name: string;
};
