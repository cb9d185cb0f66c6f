/** What a remote schema has answered: the text of each field asked for, cut out of its bytes and passed on unread, and its
 *  errors. Names of types that are called otherwise here are replaced on the way.
 *  In: bytes × RemoteCall. Out: pieces by field. Raises `remoteAnswerInvalid` for what is no GraphQL response; a field of
 *  another shape than its type is the failure of that field alone. Source: GraphQL specification, "Response". */
import { EngineError } from '../errors/engine-error.ts';
import { JsonScanner, NotJson } from '../json/scanner.ts';
import type { OutgoingResponse } from '../outgoing/http-client.ts';
import type { RemoteCall, RemoteField, TypeNamePlaces } from '../plan/remote-types.ts';
import { typeNameOf } from '../resolve/remote-names.ts';

export type RemoteAnswer = {
  /** By field; an error stands where one is not what it should be. */
  readonly fields: readonly (string | Buffer | EngineError)[];
  /** The remote's own. */
  readonly errors: readonly RemoteError[];
  /** False: `data` is null, or not there. */
  readonly hasData: boolean;
};

export type RemoteError = Readonly<Record<string, unknown>> & { readonly path?: readonly unknown[] };

/** Smaller pieces are text. */
const MOST_TEXT_BYTES = 16_384;

export function readAnswer(
  { body, status }: Pick<OutgoingResponse, 'body' | 'status'>,
  call: RemoteCall,
): RemoteAnswer {
  const refuse = (reason: string): never => {
    const told = status === 200 ? reason : `${reason} (status ${status})`;
    throw new EngineError('remoteAnswerInvalid', { url: call.remote.endpoint.url, reason: told });
  };
  try {
    const scanner = new JsonScanner(body);
    const found = new Map<string, string | Buffer | EngineError>();
    let hasData = false;
    let isThere = false;
    let errors: unknown = [];
    if (scanner.peek() !== OPEN_BRACE) refuse('it is no object');
    scanner.members((key) => {
      if (key === 'errors') errors = JSON.parse(spanOf(scanner).toString()) ?? [];
      else if (key === 'data' && scanner.peek() === OPEN_BRACE) {
        hasData = true;
        isThere = true;
        scanner.members((name) => fieldAt(scanner, name, call, found));
      } else {
        isThere ||= key === 'data' && scanner.peek() === NULL;
        scanner.skip();
      }
    });
    scanner.end();
    if (!isErrorList(errors)) return refuse('its errors are none');
    if (!isThere && errors.length === 0) return refuse('there is no data');
    if (isThere && !hasData && errors.length === 0) return refuse('its data is null, without an error');
    return { fields: call.fields.map((field) => pieceOf(field, found, call, hasData)), errors, hasData };
  } catch (error) {
    if (error instanceof NotJson) return refuse(`it is no JSON: ${error.message}`);
    throw error;
  }
}

const [OPEN_BRACE, OPEN_BRACKET, NULL, QUOTE] = [0x7b, 0x5b, 0x6e, 0x22];
const BEGINS_AS: Readonly<Record<RemoteField['shape'], (first: number) => boolean>> = {
  object: (first) => first === OPEN_BRACE,
  list: (first) => first === OPEN_BRACKET,
  any: () => true,
};

export function isErrorList(value: unknown): value is readonly RemoteError[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'object' && item !== null);
}

function pieceOf(
  field: RemoteField,
  found: ReadonlyMap<string, string | Buffer | EngineError>,
  { remote }: RemoteCall,
  hasData: boolean,
): string | Buffer | EngineError {
  const piece = found.get(keyOf(field));
  if (piece !== undefined || !hasData) return piece ?? 'null';
  const reason = `its data has no "${keyOf(field)}"`;
  return new EngineError('remoteAnswerInvalid', { url: remote.endpoint.url, reason });
}

const keyOf = ({ path }: RemoteField): string => path.at(-1)!;

function fieldAt(
  scanner: JsonScanner,
  key: string,
  call: RemoteCall,
  found: Map<string, string | Buffer | EngineError>,
): void {
  const field = call.fields.find((each) => keyOf(each) === key);
  if (!field) {
    scanner.skip();
    return;
  }
  const first = scanner.peek();
  const isNull = first === NULL;
  const start = scanner.at;
  const replaced: Replacement[] = [];
  if (field.typeNames) replaceNames(scanner, field.typeNames, call, replaced);
  else scanner.skip();
  const isAsTyped = isNull ? field.isNullable : BEGINS_AS[field.shape](first);
  if (isAsTyped) found.set(key, cutOut(scanner.bytes, start, scanner.at, replaced));
  else if (!isNull) {
    const reason = `"${key}" is not of the type it should be`;
    found.set(key, new EngineError('remoteAnswerInvalid', { url: call.remote.endpoint.url, reason }));
  }
}

type Replacement = { readonly start: number; readonly end: number; readonly text: string };

function replaceNames(
  scanner: JsonScanner,
  places: TypeNamePlaces,
  call: RemoteCall,
  replaced: Replacement[],
): void {
  const first = scanner.peek();
  if (first === OPEN_BRACKET) scanner.items(() => replaceNames(scanner, places, call, replaced));
  else if (first !== OPEN_BRACE) scanner.skip();
  else {
    scanner.members((key) => {
      const inner = places.inner.get(key);
      if (places.own.has(key) && scanner.peek() === QUOTE) {
        const start = scanner.at;
        const text = JSON.stringify(typeNameOf(call.remote.names, scanner.text()));
        replaced.push({ start, end: scanner.at, text });
      } else if (inner) replaceNames(scanner, inner, call, replaced);
      else scanner.skip();
    });
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
