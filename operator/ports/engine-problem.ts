/** Why a request to an engine failed.
 *  Not here: finding it from a response (engine/problem.ts). */

/** Why a request to an engine failed. `rejected` and `tooLarge` are about the content of the request. `unsupported`: an older engine lacks
 *  what the request needs. */
export type EngineProblemKind =
  | 'unreachable'
  | 'unauthorized'
  | 'rejected'
  | 'tooLarge'
  | 'unsupported'
  | 'conflict'
  | 'inconsistent';

/** The edit that a refusal names: the key of its object, and the path inside the object's definition, as printed. */
export type RefusedEdit = { readonly key: string; readonly path: string };

export class EngineProblem extends Error {
  readonly kind: EngineProblemKind;
  /** Absent where the engine does not name a single edit. */
  readonly edit: RefusedEdit | undefined;
  /** The path of the engine's error in the request, as printed. */
  readonly at: string | undefined;
  /** The engine's error message without its address. */
  readonly reason: string;

  constructor(
    kind: EngineProblemKind,
    message: string,
    options: ErrorOptions & {
      readonly edit?: RefusedEdit | undefined;
      readonly at?: string | undefined;
      readonly reason?: string;
    } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.edit = options.edit;
    this.at = options.at;
    this.reason = options.reason ?? message;
  }
}

/** True when the engine rejects the content of a request. */
export function isAboutContent({ kind }: EngineProblem): boolean {
  return kind === 'rejected' || kind === 'inconsistent';
}
