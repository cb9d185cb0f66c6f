/** The names of features that options switch on and that schemas and plans read.
 *  Not here: the options (config/options.ts). */

/** The feature of the option --v1-boolean-null-collapse: an operator whose operand is null is true. */
export const NULL_COLLAPSE = 'v1_boolean_null_collapse';

/** The feature of the option --strict-returning: mutations return only rows that the role may read. */
export const STRICT_RETURNING = 'strict_returning';
