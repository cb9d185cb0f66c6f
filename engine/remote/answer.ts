/** Reads and checks the answer of a remote schema: cuts the text of each field out of the bytes, without parsing it, and returns the
 *  errors. Names of types that have other names here are replaced.
 *  In: bytes and the expected fields. Out: a piece of JSON for each field. Raises `remoteAnswerInvalid` for an answer that is not a
 *  GraphQL response. A field that is not of its type is an error of that field only. Source: GraphQL specification, "Response". */
import { EngineError } from '../errors/engine-error.ts';
import { JsonScanner, NotJson } from '../json/scanner.ts';
import type { OutgoingResponse } from '../outgoing/http-client.ts';
import type { AnswerMembers, AnswerShape, RemoteField } from '../plan/remote-types.ts';
import { typeNameOf } from '../resolve/remote-names.ts';
import type { RemoteNames, ResolvedRemoteSchema } from '../resolve/types.ts';

export type RemoteAnswer = {
  /** A piece of JSON for each field. A field that is missing or not of its type is an error. */
  readonly fields: readonly (string | Buffer | EngineError)[];
  /** The errors of the service. */
  readonly errors: readonly RemoteError[];
  /** False when `data` is null or missing. */
  readonly hasData: boolean;
};

export type RemoteError = Readonly<Record<string, unknown>> & { readonly path?: readonly unknown[] };

/** A root field of the answer. `within` names the fields that lead to its value, where that is not the root field's own. */
type ExpectedField = Pick<RemoteField, 'path' | 'shape' | 'isNullable'> & {
  readonly within?: readonly string[];
};

type Pieces = Map<string, string | Buffer | EngineError>;

/** Smaller pieces are text. */
const MOST_TEXT_BYTES = 16_384;

export function readAnswer(
  { body, status }: Pick<OutgoingResponse, 'body' | 'status'>,
  fields: readonly ExpectedField[],
  { endpoint, names }: Pick<ResolvedRemoteSchema, 'endpoint' | 'names'>,
): RemoteAnswer {
  const invalid = (reason: string) => new EngineError('remoteAnswerInvalid', { url: endpoint.url, reason });
  const refuse = (reason: string): never => {
    throw invalid(status === 200 ? reason : `${reason} (status ${status})`);
  };
  const byKey = new Map(fields.map((field) => [keyOf(field), field]));
  const pieces: Pieces = new Map();
  let hasData = false;
  let isThere = false;
  let errors: unknown = [];
  try {
    const scanner = new JsonScanner(body);
    if (scanner.peek() !== OPEN_BRACE) refuse('it is no object');
    scanner.members((key) => {
      if (key === 'errors') errors = JSON.parse(spanOf(scanner).toString()) ?? [];
      else if (key === 'data' && scanner.peek() === OPEN_BRACE) {
        hasData = true;
        isThere = true;
        scanner.members((name) => {
          const field = byKey.get(name);
          if (!field) scanner.skip();
          else readField(scanner, field, field.within ?? [], names, pieces, invalid);
        });
      } else {
        isThere ||= key === 'data' && scanner.peek() === NULL;
        scanner.skip();
      }
    });
    scanner.end();
  } catch (error) {
    if (error instanceof NotJson) return refuse(`it is no JSON: ${error.message}`);
    throw error;
  }
  if (!isErrorList(errors)) return refuse('its "errors" is not a list of errors');
  if (!isThere && errors.length === 0) return refuse('there is no data');
  if (isThere && !hasData && errors.length === 0) return refuse('its data is null, without an error');
  const pieceOf = (key: string) =>
    pieces.get(key) ?? (hasData ? invalid(`its data has no "${key}"`) : 'null');
  return { fields: fields.map((field) => pieceOf(keyOf(field))), errors, hasData };
}

const [OPEN_BRACE, OPEN_BRACKET, NULL, QUOTE] = [0x7b, 0x5b, 0x6e, 0x22];

export function isErrorList(value: unknown): value is readonly RemoteError[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null);
}

const keyOf = ({ path }: ExpectedField): string => path.at(-1)!;

/** Reads a field's value, at the end of the fields `within`, into `pieces`. A value along the way that has no fields is null. */
function readField(
  scanner: JsonScanner,
  field: ExpectedField,
  [next, ...further]: readonly string[],
  names: RemoteNames,
  pieces: Pieces,
  invalid: (reason: string) => EngineError,
): void {
  const key = keyOf(field);
  const first = scanner.peek();
  if (next !== undefined) {
    pieces.set(key, 'null');
    if (first !== OPEN_BRACE) scanner.skip();
    else {
      scanner.members((name) => {
        if (name === next) readField(scanner, field, further, names, pieces, invalid);
        else scanner.skip();
      });
    }
    return;
  }
  const isNull = first === NULL;
  const start = scanner.at;
  const walk = new AnswerWalk(scanner, names);
  walk.value(field.shape);
  const { wrong } = walk;
  if (wrong) {
    const name = [...wrong, key].reverse().join('.');
    pieces.set(key, invalid(`"${name}" is not of the type it should be`));
  } else if (!isNull || field.isNullable)
    pieces.set(key, cutOut(scanner.bytes, start, scanner.at, walk.replaced));
}

type Replacement = { readonly start: number; readonly end: number; readonly text: string };

/** Moves past a value: finds the type names to replace, and the first value that is not as its shape says. */
class AnswerWalk {
  readonly replaced: Replacement[] = [];
  /** The response names that lead to the first wrong value, innermost first. */
  wrong: string[] | undefined;
  readonly #scanner: JsonScanner;
  readonly #names: RemoteNames;

  constructor(scanner: JsonScanner, names: RemoteNames) {
    this.#scanner = scanner;
    this.#names = names;
  }

  value(shape: AnswerShape): void {
    const first = this.#scanner.peek();
    if (shape.kind === 'any') this.#scanner.skip();
    else if (shape.kind === 'leaf') this.#leaf(shape.lists);
    else {
      if (first !== NULL && first !== (shape.kind === 'list' ? OPEN_BRACKET : OPEN_BRACE)) this.wrong = [];
      if (shape.members) this.#members(shape.members);
      else this.#scanner.skip();
    }
  }

  #members(members: AnswerMembers): void {
    const scanner = this.#scanner;
    const first = scanner.peek();
    if (first === OPEN_BRACKET) scanner.items(() => this.#members(members));
    else if (first !== OPEN_BRACE) scanner.skip();
    else scanner.members((key) => this.#member(key, members));
  }

  #member(key: string, { leaves, inner, typeNames }: AnswerMembers): void {
    const before = this.wrong;
    const lists = leaves.get(key);
    const within = inner.get(key);
    if (lists !== undefined) this.#leaf(lists);
    else if (within) this.#members(within);
    else if (typeNames.has(key) && this.#scanner.peek() === QUOTE) this.#rename();
    else this.#scanner.skip();
    if (before === undefined) this.wrong?.push(key);
  }

  #leaf(lists: number): void {
    const scanner = this.#scanner;
    const first = scanner.peek();
    if (first === OPEN_BRACKET && lists > 0) {
      scanner.items(() => this.#leaf(lists - 1));
      return;
    }
    if (first === OPEN_BRACE || first === OPEN_BRACKET) this.wrong ??= [];
    scanner.skip();
  }

  #rename(): void {
    const start = this.#scanner.at;
    const text = JSON.stringify(typeNameOf(this.#names, this.#scanner.text()));
    this.replaced.push({ start, end: this.#scanner.at, text });
  }
}

function spanOf(scanner: JsonScanner): Buffer {
  scanner.peek();
  const start = scanner.at;
  scanner.skip();
  return scanner.bytes.subarray(start, scanner.at);
}

function cutOut(
  bytes: Buffer,
  start: number,
  end: number,
  replaced: readonly Replacement[],
): string | Buffer {
  const pieces: Buffer[] = [];
  let at = start;
  for (const { start: from, end: to, text } of replaced) {
    pieces.push(bytes.subarray(at, from), Buffer.from(text));
    at = to;
  }
  pieces.push(bytes.subarray(at, end));
  const whole = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  return whole.length <= MOST_TEXT_BYTES ? whole.toString() : whole;
}
