/** The form of a warning in the answer of an admin operation. A leaf, so that its producers do not import each other.
 *  Not here: which changes have warnings (warnings.ts, extensions.ts). */

export type Warning = {
  readonly code: 'managed-object' | 'not-enforced' | 'extension-missing';
  readonly message: string;
  readonly type: string;
  /** The key of the object. */
  readonly name: string;
};
