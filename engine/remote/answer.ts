/** Reads and checks the answer of a remote schema: cuts the text of each field out of the bytes, without parsing it, and returns the
 *  errors. Names of types that have other names here are replaced.
 *  In: bytes and the expected fields. Out: a piece of JSON for each field. Raises `remoteAnswerInvalid` for an answer that is not a
 *  GraphQL response. A value that is not of its type is null, and so is what contains it, up to the first that may be null.
 *  Source: GraphQL specification, "Response", "Handling Execution Errors". */
import { EngineError, type PathStep } from '../errors/engine-error.ts';
import { JsonScanner, NotJson } from '../json/scanner.ts';
import type { OutgoingResponse } from '../outgoing/http-client.ts';
import type { AnswerMembers, AnswerShape, RemoteField } from '../plan/remote-types.ts';
import type { RemoteNames, ResolvedRemoteSchema } from '../resolve/model/remote-schema.ts';
import { typeNameOf } from '../resolve/remote-names.ts';

export type RemoteAnswer = {
  /** A piece of JSON for each field. */
  readonly fields: readonly (string | Buffer | WrongField)[];
  /** The errors of the service. */
  readonly errors: readonly RemoteError[];
  /** False when `data` is null or missing. */
  readonly hasData: boolean;
};

/** A field that is missing or not of its type in some places. */
export class WrongField {
  /** The piece without these places; null when the field is not there, or null where it must not be. */
  readonly piece: string | Buffer | null;
  /** The error of the first place. */
  readonly error: EngineError;
  /** The path of the first place, from the field. */
  readonly path: readonly PathStep[];

  constructor(piece: string | Buffer | null, error: EngineError, path: readonly PathStep[] = []) {
    this.piece = piece;
    this.error = error;
    this.path = path;
  }
}

export type RemoteError = Readonly<Record<string, unknown>> & { readonly path?: readonly unknown[] };

/** A root field of the answer. `within` names the fields that lead to its value, where that is not the root field's own. */
type ExpectedField = Pick<RemoteField, 'path' | 'shape' | 'isNullable'> & {
  readonly within?: readonly string[];
};

type Pieces = Map<string, string | Buffer | WrongField>;

/** Longer errors are not parsed: values take many times the memory of their text. */
const MOST_ERROR_BYTES = 1024 * 1024;
/** A field with more wrong values is null. */
const MOST_WRONG = 1000;

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
      if (key === 'errors')
        errors = errorsIn(spanOf(scanner)) ?? refuse(`its errors are longer than ${MOST_ERROR_BYTES} bytes`);
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
    pieces.get(key) ?? (hasData ? new WrongField(null, invalid(`its data has no "${key}"`)) : 'null');
  return { fields: fields.map((field) => pieceOf(keyOf(field))), errors, hasData };
}

const [OPEN_BRACE, OPEN_BRACKET, NULL, QUOTE] = [0x7b, 0x5b, 0x6e, 0x22];

/** Returns undefined for errors that are too long. */
export function errorsIn(bytes: Buffer): unknown {
  if (bytes.length > MOST_ERROR_BYTES) return undefined;
  return JSON.parse(bytes.toString()) ?? [];
}

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
  if (first === NULL && !field.isNullable) {
    // As if it were missing.
    scanner.skip();
    return;
  }
  const start = scanner.at;
  const walk = new AnswerWalk(scanner, names);
  const isThere = walk.value(field.shape);
  const { wrong, problem } = walk;
  const piece = isThere ? cutOut(scanner.bytes, start, scanner.at, walk) : null;
  if (!wrong) {
    pieces.set(key, piece!);
    return;
  }
  const path = wrong.reverse();
  const place = [key, ...path.filter((step) => typeof step === 'string')].join('.');
  pieces.set(key, new WrongField(piece, invalid(`"${place}" ${problem}`), path));
}

const NULL_TEXT = Buffer.from('null');
/** The most names of types in a field, which has a few. */
const MOST_NAMES = 10_000;
const OTHER_TYPE = 'is not of the type it should be';
const MUST_NOT_BE_NULL = 'is null, which its type does not allow';

/** Moves past a value: finds the type names and the values to replace, and the first value that is not as its shape says. */
class AnswerWalk {
  /** For each value to replace its start, its end, and the index of the text in its place: an answer may have a million of them. */
  readonly replaced: number[] = [];
  readonly texts: Buffer[] = [NULL_TEXT];
  /** The steps that lead to the first wrong value, innermost first. */
  wrong: PathStep[] | undefined;
  /** The end of a sentence about the first wrong value. */
  problem = '';
  readonly #scanner: JsonScanner;
  readonly #names: RemoteNames;
  /** The indices of texts by the names that they replace. */
  readonly #renamed = new Map<string, number>();
  #nulled = 0;

  constructor(scanner: JsonScanner, names: RemoteNames) {
    this.#scanner = scanner;
    this.#names = names;
  }

  /** Moves past a value. Returns false when it is or becomes null and must not be. */
  value(shape: AnswerShape): boolean {
    const scanner = this.#scanner;
    const first = scanner.peek();
    if (first === NULL) {
      scanner.skip();
      return shape.isNullable || this.#refuse(MUST_NOT_BE_NULL);
    }
    const start = scanner.at;
    return this.#isValid(shape, first) || (shape.isNullable && this.#replace(start));
  }

  /** Moves past a value that is not null. */
  #isValid(shape: AnswerShape, first: number): boolean {
    const scanner = this.#scanner;
    switch (shape.kind) {
      case 'leaf':
        if (first !== OPEN_BRACKET && (first !== OPEN_BRACE || shape.mayBeObject)) return this.#any();
        break;
      case 'object':
        if (first === OPEN_BRACE) return shape.members ? this.#members(shape.members) : this.#any();
        break;
      case 'list':
        if (first === OPEN_BRACKET) return this.#items(shape.item);
        break;
      case 'any':
        return this.#any();
      default:
        return shape satisfies never;
    }
    scanner.skip();
    return this.#refuse(OTHER_TYPE);
  }

  #any(): true {
    this.#scanner.skip();
    return true;
  }

  #items(item: AnswerShape): boolean {
    let isValid = true;
    let index = 0;
    this.#scanner.items(() => {
      const before = this.wrong;
      if (!this.value(item)) isValid = false;
      if (before === undefined) this.wrong?.push(index);
      index++;
    });
    return isValid;
  }

  #members({ shapes, typeNames }: AnswerMembers): boolean {
    let isValid = true;
    this.#scanner.members((key) => {
      const shape = shapes.get(key);
      const before = this.wrong;
      if (shape) isValid = this.value(shape) && isValid;
      else if (typeNames.has(key) && this.#scanner.peek() === QUOTE) isValid = this.#rename() && isValid;
      else this.#scanner.skip();
      if (before === undefined) this.wrong?.push(key);
    });
    return isValid;
  }

  #refuse(problem: string): false {
    if (!this.wrong) {
      this.wrong = [];
      this.problem = problem;
    }
    return false;
  }

  /** Puts null in place of the value that begins at `start` and ends here, with what has been replaced in it. Returns false when there are too
   *  many: everything that contains it is wrong, too. */
  #replace(start: number): boolean {
    const { replaced } = this;
    while (replaced.length > 0 && replaced.at(-3)! >= start) replaced.length -= 3;
    if (++this.#nulled > MOST_WRONG) return false;
    replaced.push(start, this.#scanner.at, 0);
    return true;
  }

  #rename(): boolean {
    const start = this.#scanner.at;
    const name = this.#scanner.text();
    let index = this.#renamed.get(name);
    if (index === undefined) {
      if (this.#renamed.size === MOST_NAMES) return this.#refuse(OTHER_TYPE);
      index = this.texts.push(Buffer.from(JSON.stringify(typeNameOf(this.#names, name)))) - 1;
      this.#renamed.set(name, index);
    }
    this.replaced.push(start, this.#scanner.at, index);
    return true;
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
  { replaced, texts }: Pick<AnswerWalk, 'replaced' | 'texts'>,
): string | Buffer {
  let length = end - start;
  for (let i = 0; i < replaced.length; i += 3)
    length += texts[replaced[i + 2]!]!.length - (replaced[i + 1]! - replaced[i]!);
  const whole = replaced.length === 0 ? bytes.subarray(start, end) : Buffer.allocUnsafe(length);
  let from = start;
  let at = 0;
  for (let i = 0; i < replaced.length; i += 3) {
    at += bytes.copy(whole, at, from, replaced[i]);
    at += texts[replaced[i + 2]!]!.copy(whole, at);
    from = replaced[i + 1]!;
  }
  if (replaced.length > 0) bytes.copy(whole, at, from, end);
  return whole.length <= MOST_TEXT_BYTES ? whole.toString() : whole;
}
