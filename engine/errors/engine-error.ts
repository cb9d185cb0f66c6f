/** The one exception of the engine: a row of ERRORS, its parameters, and the path of the error in the request.
 *  In: `fail(name, params)` in any stage; `withPath` extends the path as the error propagates. Out: two encodings, the admin body
 *  `{path, error, code, internal?}` and the GraphQL error `{message, extensions: {path, code, internal?}}`.
 *  Not here: the rows (errors.ts), HTTP (http/). Spec: "Errors". */
import { ERRORS, type ErrorDialect, type ErrorName, type ErrorParams, type ErrorRow } from './errors.ts';
import { quotedText } from './quoted.ts';

/** A step of a path: a key, or an index of a list. */
export type PathStep = string | number;

/** A name that does not exist, and the names that exist where it was looked up. They are read only for administrators. */
export type Misnamed = { readonly name: string; readonly known: () => Iterable<string> };

/** Facts that only administrators who keep track of objects read. No response to an API client has them. */
export type ErrorHints = {
  /** The name that does not exist, where the error is about one. */
  readonly misnamed?: Misnamed | undefined;
  /** The named value or file that cannot be read, as a reference text, where the error is about one. */
  readonly lacks?: string | undefined;
  /** Further errors of the same object, in order (together.ts). */
  readonly more?: readonly EngineError[] | undefined;
  /** The code of the error behind this one, where the admin API has one code for all errors of the object. */
  readonly behind?: string | undefined;
  /** The key of the object that could not be made, where the metadata is written. */
  readonly object?: string | undefined;
  /** The keys of the objects that have names which the object wants. */
  readonly rivals?: readonly string[] | undefined;
  /** The option that lifts the refusal. Every client reads it, at the end of the message. */
  readonly advice?: string | undefined;
  /** The source whose database answered as if it had other tables, columns or functions than those the engine has seen. */
  readonly outdatedSource?: string | undefined;
};

export class EngineError extends Error {
  readonly kind: ErrorName;
  readonly params: object;
  /** The path from the outermost container inwards, printed as `$.args[0].table`. */
  readonly path: readonly PathStep[];
  /** Facts for administrators only, for example the database's own message. */
  readonly internal: unknown;
  readonly #hints: ErrorHints;

  constructor(
    kind: ErrorName,
    params: object,
    path: readonly PathStep[] = [],
    internal?: unknown,
    hints: ErrorHints = {},
  ) {
    super(quotedText(rowOf(kind).message(params as never)));
    this.name = 'EngineError';
    this.kind = kind;
    this.params = params;
    this.path = path;
    this.internal = internal;
    this.#hints = hints;
  }

  get hints(): ErrorHints {
    return this.#hints;
  }

  get status(): number {
    return rowOf(this.kind).status;
  }

  /** Returns the code in the wording of an endpoint: the specification's, or the newer one where it differs. */
  codeIn(dialect: ErrorDialect): string {
    const row = rowOf(this.kind);
    const code = (dialect === 'newer' ? row.newer?.code : undefined) ?? row.code;
    return typeof code === 'function' ? quotedText(code(this.params as never)) : code;
  }

  messageIn(dialect: ErrorDialect): string {
    const row = rowOf(this.kind);
    const message = (dialect === 'newer' ? row.newer?.message : undefined) ?? row.message;
    const { advice } = this.#hints;
    return quotedText(message(this.params as never)) + (advice === undefined ? '' : ` (${advice})`);
  }

  /** The extensions of a GraphQL error that replace path and code. */
  get extensions(): object | undefined {
    return rowOf(this.kind).extensions?.(this.params as never);
  }

  advised(advice: string | undefined): EngineError {
    return advice === undefined ? this : this.#copy(this.path, { ...this.#hints, advice });
  }

  /** Returns the error of an object that could not be made. */
  of(object: string): EngineError {
    return this.#copy(this.path, { ...this.#hints, object });
  }

  at(step: PathStep): EngineError {
    const { more } = this.#hints;
    const hints = more ? { ...this.#hints, more: more.map((other) => other.at(step)) } : this.#hints;
    return this.#copy([step, ...this.path], hints);
  }

  /** Returns a copy whose cause is the error that was raised. Its own stack would say nothing, and takes longer than all else. */
  #copy(path: readonly PathStep[], hints: ErrorHints): EngineError {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      const copy = new EngineError(this.kind, this.params, path, this.internal, hints);
      copy.cause = this.cause ?? this;
      return copy;
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }
}

/** Raises an ERRORS row. `path` is relative to the caller; outer stages prepend their steps with `withPath`. */
export function fail<N extends ErrorName>(
  kind: N,
  params: ErrorParams<N>,
  options: {
    readonly path?: readonly PathStep[];
    readonly internal?: unknown;
  } & Pick<ErrorHints, 'misnamed' | 'behind' | 'lacks'> = {},
): never {
  const { path = [], internal, ...hints } = options;
  throw new EngineError(kind, params as object, path, internal, hints);
}

/** Returns the message of anything that was thrown. */
export function thrownMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Runs `body` and prepends `step` to the path of an EngineError it raises. */
export function withPath<T>(step: PathStep, body: () => T): T {
  return withSteps([step], body);
}

/** Runs `body` and prepends `steps` to the path of an EngineError it raises. */
export function withSteps<T>(steps: readonly PathStep[], body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (error instanceof EngineError) throw steps.reduceRight((inner, step) => inner.at(step), error);
    throw error;
  }
}

/** Prints a path: `$`, `$.args`, `$.args[0].table`. A key that is not an identifier is quoted: `$.args['a b']`. */
export function printPath(path: readonly PathStep[]): string {
  return quotedText(path.reduce<string>((printed, step) => printed + printStep(step), '$'));
}

type AdminErrorBody = { path: string; error: string; code: string; internal?: unknown };

export function toAdminBody(
  error: EngineError,
  dialect: ErrorDialect,
  showInternal: boolean,
): AdminErrorBody {
  return {
    path: printPath(error.path),
    error: error.messageIn(dialect),
    code: error.codeIn(dialect),
    ...(showInternal && error.internal !== undefined ? { internal: error.internal } : {}),
  };
}

type GraphqlErrorBody = {
  message: string;
  extensions: { path?: string; code?: string; internal?: unknown };
};

export function toGraphqlError(error: EngineError, showInternal: boolean): GraphqlErrorBody {
  return {
    message: error.messageIn('newer'),
    extensions: {
      ...(error.extensions ?? { path: printPath(error.path), code: error.codeIn('newer') }),
      ...(showInternal && error.internal !== undefined ? { internal: error.internal } : {}),
    },
  };
}

function rowOf(kind: ErrorName): ErrorRow<never> {
  return ERRORS[kind] as ErrorRow<never>;
}

function printStep(step: PathStep): string {
  if (typeof step === 'number') return `[${step}]`;
  return /^[A-Za-z_][\w-]*$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
}
