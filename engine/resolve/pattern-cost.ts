/** The cost of patterns: the work of Postgres to compile a regular expression, or to match a pattern that it matches by trying. In: a pattern as
 *  text. Out: a number; patterns of one statement that cost up to 1 together are compiled within a tenth of a second. Patterns that Postgres refuses have a cost as well.
 *  Measured with Postgres 18: n pieces take n² × 1 ns, and n pieces in a row that may be empty n³ × 50 ns or less. Pure.
 *  Not here: who refuses a pattern (execute/bind.ts). PostgreSQL manual, "Pattern Matching" and "ltree". */
import type { PatternLanguage } from '../catalog/operators.ts';

/** The pieces that cost 1: characters, classes and the like, each as often as it is repeated at most. */
const MOST_PIECES = 10_000;
/** The pieces in a row that may be empty (`.*`, `a?`, `%`) and cost 1. */
const MOST_EMPTY = 100;
/** The number of them that costs nothing. */
const FREE_EMPTY = 12;
/** The number that a constraint counts as (`^`, `\\y`, `(?=a)`): in loops, Postgres multiplies the rest by it. */
const CONSTRAINT_WEIGHT = 10;
/** The number by which a constraint in a loop counts as more. */
const LOOP_WEIGHT = 3;
/** A longer pattern is not read. */
const LONGEST = 10 * MOST_PIECES;
/** The repeated pieces of a regular expression with back-references. It is matched by trying all their lengths. */
const MOST_REFERRED = 3;
/** The items of any length (`*`, `a{2,}`) in an lquery, which is matched in the same way. */
const MOST_ITEMS = 5;

export function patternCost(pattern: string, language: PatternLanguage): number {
  switch (language) {
    case 'like':
      return 0;
    case 'lquery':
      return pattern.split('.').filter(isOfAnyLength).length > MOST_ITEMS ? Number.POSITIVE_INFINITY : 0;
    case 'similar':
    case 'regex':
      if (pattern.length > LONGEST) return Number.POSITIVE_INFINITY;
      return costOf(new Reading(pattern, language).read());
    default:
      return language satisfies never;
  }
}

/** True for `*`, `*{1,2}` and `a{2,}`. An asterisk behind a label stands for its end. */
function isOfAnyLength(item: string): boolean {
  const bound = item.indexOf('{');
  return item.trimStart().startsWith('*') || (bound >= 0 && item.includes(',', bound));
}

/** A part of a pattern: its pieces, and the most of them in a row that may be empty. */
type Part = {
  readonly pieces: number;
  readonly empty: number;
  readonly mayBeEmpty: boolean;
  readonly hasConstraint: boolean;
};

type Read = Part & { readonly repeated: number; readonly hasReferences: boolean };

function costOf({ pieces, empty, repeated, hasReferences }: Read): number {
  if (hasReferences && repeated > MOST_REFERRED) return Number.POSITIVE_INFINITY;
  return (pieces / MOST_PIECES) ** 2 + (Math.max(0, empty - FREE_EMPTY) / MOST_EMPTY) ** 3;
}

/** A group, or the whole pattern, as far as it has been read. */
class Group {
  pieces = 0;
  empty = 0;
  readonly #isConstraint: boolean;
  #hasConstraint: boolean;
  #row = 0;
  #isBranchEmpty = true;
  #emptyBranches = 0;

  /** A constraint (`(?=…)`) matches no text. */
  constructor(isConstraint = false) {
    this.#isConstraint = isConstraint;
    this.#hasConstraint = isConstraint;
  }

  add({ pieces, empty, mayBeEmpty, hasConstraint }: Part): void {
    this.#hasConstraint ||= hasConstraint;
    this.pieces += pieces;
    this.empty = Math.max(this.empty, this.#row + empty);
    // A part that cannot be empty may begin and end with pieces that can.
    this.#row = mayBeEmpty ? this.#row + empty : empty;
    this.#isBranchEmpty &&= mayBeEmpty;
  }

  endBranch(): void {
    if (this.#isBranchEmpty) this.#emptyBranches += 1;
    this.#row = 0;
    this.#isBranchEmpty = true;
  }

  end(): Part {
    this.endBranch();
    const part = {
      pieces: this.pieces,
      empty: Math.max(this.empty, this.#emptyBranches),
      mayBeEmpty: this.#emptyBranches > 0,
      hasConstraint: this.#hasConstraint,
    };
    if (!this.#isConstraint) return part;
    return { ...part, empty: part.empty + CONSTRAINT_WEIGHT, mayBeEmpty: true };
  }
}

const CHARACTER: Part = { pieces: 1, empty: 0, mayBeEmpty: false, hasConstraint: false };
/** `%` in SIMILAR TO. */
const ANY_TEXT: Part = { pieces: 1, empty: 1, mayBeEmpty: true, hasConstraint: false };
const CONSTRAINT: Part = { pieces: 1, empty: CONSTRAINT_WEIGHT, mayBeEmpty: true, hasConstraint: true };
const BOUND = /\{(\d*)(,?)(\d*)\}/y;
/** Names of classes are short. */
const CLASS = /\[\^?\]?(?:\[[:.=][^\]]{1,30}[:.=]\]|\\.|[^\]\\])*\]?/sy;
/** The most times that a bound may repeat a part. */
const MOST_TIMES = 255;
/** A back-reference, and the constraints among the escapes. */
const REFERENCE = /[1-9]/;
const CONSTRAINT_ESCAPE = /[AmMyYZ]/;

/** Reads a pattern once, from its beginning to its end. */
class Reading {
  readonly #text: string;
  readonly #isRegex: boolean;
  #at = 0;
  #repeated = 0;
  #hasReferences = false;

  constructor(text: string, language: 'similar' | 'regex') {
    this.#text = text;
    this.#isRegex = language === 'regex';
  }

  read(): Read {
    const text = this.#text;
    const open: Group[] = [];
    let group = new Group();
    if (this.#isRegex && /^\*\*\*=|^(\*\*\*:)?\(\?[a-z]*q/.test(text)) {
      group.add({ ...CHARACTER, pieces: text.length });
      this.#at = text.length;
    }
    while (this.#at < text.length) {
      const character = text[this.#at]!;
      if (character === '(') {
        open.push(group);
        this.#at += 1;
        group = new Group(this.#skip(/\?(?:<?([=!])|:)/y)?.[1] !== undefined);
      } else if (character === '|') {
        group.endBranch();
        this.#at += 1;
      } else if (character === ')' && open.length > 0) {
        this.#at += 1;
        const part = this.#quantified(group.end());
        group = open.pop()!;
        group.add(part);
      } else group.add(this.#quantified(this.#atom(character)));
    }
    for (; open.length > 0; group = open.pop()!) open.at(-1)!.add(group.end());
    return { ...group.end(), repeated: this.#repeated, hasReferences: this.#hasReferences };
  }

  #skip(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#text);
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  #atom(character: string): Part {
    if (character === '[') {
      this.#skip(CLASS);
      return CHARACTER;
    }
    this.#at += 1;
    if (character === '\\') {
      const escaped = this.#text[this.#at] ?? '';
      this.#at += 1;
      if (!this.#isRegex) return CHARACTER;
      this.#hasReferences ||= REFERENCE.test(escaped);
      return CONSTRAINT_ESCAPE.test(escaped) ? CONSTRAINT : CHARACTER;
    }
    if (this.#isRegex) return character === '^' || character === '$' ? CONSTRAINT : CHARACTER;
    return character === '%' ? ANY_TEXT : CHARACTER;
  }

  #loop(part: Part): Part {
    this.#repeated += 1;
    const { empty, mayBeEmpty, hasConstraint } = part;
    return mayBeEmpty && hasConstraint ? { ...part, empty: empty * LOOP_WEIGHT } : part;
  }

  /** Reads the quantifiers behind a part. */
  #quantified(part: Part): Part {
    let quantified = part;
    for (;;) {
      const character = this.#text[this.#at];
      if (character === '*' || character === '+' || character === '?') {
        this.#at += 1;
        if (this.#isRegex) this.#skip(/\?/y);
        if (character !== '?') quantified = this.#loop(quantified);
        if (character !== '+') quantified = optional(quantified);
        continue;
      }
      const bound = character === '{' ? this.#skip(BOUND) : null;
      if (!bound) return quantified;
      const [, least, comma, most] = bound;
      const times = Math.min(MOST_TIMES, Math.max(1, Number(most) || Number(least)));
      if (comma && most === '') quantified = this.#loop(quantified);
      else if (comma) this.#repeated += 1;
      quantified = repeated(quantified, times);
      if (Number(least) === 0) quantified = optional(quantified);
    }
  }
}

function repeated(part: Part, times: number): Part {
  const { pieces, empty, mayBeEmpty } = part;
  return { ...part, pieces: pieces * times, empty: mayBeEmpty ? empty * times : empty };
}

function optional(part: Part): Part {
  return { ...part, empty: part.mayBeEmpty ? part.empty : part.empty + 1, mayBeEmpty: true };
}
