/** The requests that the engine sends for an object: where they go, and whether the headers of clients go with them. Read along the marks of
 *  its schema (CALL_MARK), so a new address of a kind counts. Pure, total on any JSON.
 *  Not here: sending (webhook/call.ts), the other variables of an object (variables.ts). */
import { OBJECTS, type ObjectKind } from './objects.ts';
import { CALL_MARK, type CallMark, type VariableMark } from './schema/common.ts';
import { referencesInText } from './variables.ts';
import { Marks, type MarkWalk, walkMarks } from './walk-marks.ts';
import { asJsonSchema } from './walk-schema.ts';

/** An address that an object names. */
export type CalledUrl = Pick<VariableMark, 'form'> & {
  /** A template, or the name or path of what has the address. */
  readonly text: string;
  /** The reference texts in it. */
  readonly references: readonly string[];
};

export type Calls = {
  readonly urls: readonly CalledUrl[];
  /** The templates of addresses in transforms. */
  readonly transformedUrls: readonly string[];
  readonly sendsClientHeaders: boolean;
};

type Found = { readonly mark: CallMark; readonly value: unknown }[];

const WALK: MarkWalk<CallMark, Found> = {
  marks: new Marks(CALL_MARK),
  visit: (mark, value, found) => {
    found.push({ mark, value });
    return value;
  },
};

/** Returns the requests that an object causes; `definition` is in normal form, without objects nested in it. */
export function callsOf(kind: ObjectKind, definition: unknown): Calls {
  const found: Found = [];
  walkMarks(asJsonSchema(OBJECTS[kind].schema), definition, WALK, found);
  const urls = found.flatMap(({ mark, value }) =>
    mark.kind === 'url' && typeof value === 'string'
      ? [{ form: mark.form, text: value, references: referencesInText(mark, value) }]
      : [],
  );
  const of = (kind: CallMark['kind']) =>
    found.flatMap(({ mark, value }) => (mark.kind === kind ? [value] : []));
  return {
    urls,
    transformedUrls: of('transformed-url').filter((value) => typeof value === 'string'),
    sendsClientHeaders: of('client-headers').includes(true),
  };
}
