/** The environment variables, named values and files that metadata objects send to external services. Each must be set, and must be
 *  neither reserved (metadata/variables.ts) nor used by a source of the document to connect, whichever of the two objects was added
 *  first. In: the document, the environment, the reader of values and files, an object. Out: nothing, or `invalidConfiguration` with the path to what names the variable.
 *  Not here: sending (webhook/call.ts), variables of connections (database/sources.ts). */
import { EngineError } from '../errors/engine-error.ts';
import type { ObjectKind } from '../metadata/objects.ts';
import { parseReference, printReference, siblingReferences } from '../metadata/references.ts';
import type { Header } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { SourceConfiguration } from '../metadata/schema/source.ts';
import {
  fillTemplate,
  isReserved,
  type NamedVariable,
  refusedHeader,
  variablesIn,
  variablesOf,
} from '../metadata/variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads what references other than environment variables stand for: named values and files. */
export type ReferenceReader = {
  /** A text that changes when another set of names becomes readable. */
  readonly identity: string;
  /** Returns the text; undefined where `problemOf` says why there is none. */
  read(reference: string): string | undefined;
  /** Returns why the text cannot be read, as a sentence without any part of it; null when it can. */
  problemOf(reference: string): string | null;
};

/** Returns the value of a header. `read` returns the text of a reference. */
export function headerValue(header: Header, read: (reference: string) => string): string {
  const [reference] = siblingReferences(header, 'value');
  return reference === undefined ? fillTemplate(header.value ?? '', read) : read(reference);
}

/** Returns the text of a reference; undefined when there is none. */
export function textOf(
  reference: string,
  env: Environment,
  reader: ReferenceReader | undefined,
): string | undefined {
  if (parseReference(reference).from !== 'env') return reader?.read(reference);
  return isSet(env, reference) ? env[reference] : undefined;
}

export class VariableRules {
  /** Reference texts of the variables, named values and files that sources, replicas, connection sets and certificates of the document use. */
  readonly connection: ReadonlySet<string>;
  /** A key that is equal for rules with the same result as long as the environment does not change. */
  readonly identity: string;
  readonly #env: Environment | undefined;
  readonly #reader: ReferenceReader | undefined;

  /** Without `env`, every variable counts as set; without `reader`, every named value and file. */
  constructor(
    { sources }: Pick<Metadata, 'sources'>,
    env: Environment | undefined,
    reader?: ReferenceReader | undefined,
  ) {
    this.#env = env;
    this.#reader = reader;
    const named = sources.flatMap(({ configuration }) => variablesIn(SourceConfiguration, configuration));
    this.connection = new Set(named.map(({ name }) => name));
    this.identity = JSON.stringify([[...this.connection].sort(), reader?.identity ?? '']);
  }

  /** Returns why the variable cannot be sent to an external service; null when it can. */
  problemOf(name: string): string | null {
    const variable = printReference(name);
    if (isReserved(name)) return `${variable} is never sent: it belongs to the engine`;
    if (this.connection.has(name)) return `${variable} is never sent: a source connects with it`;
    if (parseReference(name).from !== 'env') return this.#reader?.problemOf(name) ?? null;
    return this.#env === undefined || isSet(this.#env, name) ? null : `${variable} is not set`;
  }

  /** Returns what is wrong with the variables an object sends; undefined when nothing is. */
  faultOf(kind: ObjectKind, definition: unknown): EngineError | undefined {
    return this.firstFault(variablesOf(kind, definition));
  }

  firstFault(variables: readonly NamedVariable[]): EngineError | undefined {
    for (const { name, use, path } of variables) {
      const problem = use === 'outbound' ? (refusedHeader({ name, path }) ?? this.problemOf(name)) : null;
      if (problem === null) continue;
      const lacks = this.#reader?.problemOf(name) ? name : undefined;
      return new EngineError('invalidConfiguration', { text: problem }, path, undefined, { lacks });
    }
    return undefined;
  }

  /** Raises `faultOf`. */
  require(kind: ObjectKind, definition: unknown): void {
    const fault = this.faultOf(kind, definition);
    if (fault) throw fault;
  }
}

function isSet(env: Environment, name: string): boolean {
  return Object.hasOwn(env, name) && env[name] !== undefined;
}
