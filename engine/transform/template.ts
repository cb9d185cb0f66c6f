/** A parsed template, and the one exception of this room. A template is JSON that contains expressions. Every node has its position in
 *  the text, for error messages.
 *  Not here: parsing (parse.ts), evaluation (evaluate.ts). Reference: docs/reference/behaviour/actions.md; the Kriti language. */

/** A range of the text as offsets. `end` is exclusive. */
export type TextSpan = { readonly start: number; readonly end: number };

export type Template = { readonly span: TextSpan } & (
  | { readonly kind: 'literal'; readonly value: unknown }
  /** A string with expressions between its pieces. */
  | { readonly kind: 'text'; readonly parts: readonly Template[] }
  | { readonly kind: 'array'; readonly items: readonly Template[] }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [string, Template])[] }
  | { readonly kind: 'path'; readonly name: string; readonly steps: readonly MemberStep[] }
  | {
      readonly kind: 'if';
      readonly branches: readonly { readonly condition: Template; readonly value: Template }[];
      readonly otherwise: Template;
    }
  | {
      readonly kind: 'range';
      /** The name of the index; null for `_`. */
      readonly index: string | null;
      readonly item: string;
      readonly over: Template;
      readonly body: Template;
    }
  | { readonly kind: 'call'; readonly name: string; readonly argument: Template }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Template;
      readonly right: Template;
    }
);

/** A member of an object or an item of a list, whose name or index may come from another path. If an optional member is missing, the
 *  whole path is null. */
export type MemberStep = { readonly key: string | number | Template; readonly isOptional: boolean };

/** The binary operators from the loosest to the tightest. Operators of one row associate to the left. */
export const BINARY_OPERATORS = [['??'], ['||'], ['&&'], ['==', '!=', '>=', '<=', '>', '<', 'in']] as const;
export type BinaryOperator = (typeof BINARY_OPERATORS)[number][number];

type TemplateErrorCode =
  | 'Parse Error'
  | 'Name Error'
  | 'Attribute Error'
  | 'Index Error'
  | 'Type Error'
  | 'Range Error'
  | 'Function Error'
  | 'Limit Error'
  | 'Request Error';

/** An error in a template, as administrators see it. */
export type TemplateProblem = {
  readonly error_code: TemplateErrorCode;
  readonly message: string;
  /** The position in the text. Lines count from 0 and columns from 1; the end is exclusive. */
  readonly source_position?: {
    readonly start_line: number;
    readonly start_column: number;
    readonly end_line: number;
    readonly end_column: number;
  };
};

export class TemplateError extends Error {
  readonly code: TemplateErrorCode;
  readonly span: TextSpan;

  constructor(code: TemplateErrorCode, message: string, span: TextSpan) {
    super(message);
    this.code = code;
    this.span = span;
  }

  problem(source: string): TemplateProblem {
    const start = positionOf(this.span.start, source);
    const end = positionOf(this.span.end, source);
    return {
      error_code: this.code,
      message: this.message,
      source_position: {
        start_line: start.line,
        start_column: start.column,
        end_line: end.line,
        end_column: end.column,
      },
    };
  }
}

function positionOf(offset: number, source: string): { readonly line: number; readonly column: number } {
  const before = source.slice(0, offset).split('\n');
  return { line: before.length - 1, column: before.at(-1)!.length + 1 };
}
