/** The types of differences.js for its test. */

/** Returns the lines of both texts, and which of them are only in one. */
export function differences(
  before: string,
  after: string,
): readonly { readonly kind: 'same' | 'removed' | 'added' | 'skipped'; readonly text: string }[];
