/** Parses text to a Template by recursive descent over the characters. There is no separate tokenizer, because strings contain
 *  expressions. Raises TemplateError (`Parse Error`) at the first error.
 *  Not here: evaluation (evaluate.ts). Reference: the Kriti language, its README and grammar. */
import { numberFrom } from '../json/number.ts';
import {
  BINARY_OPERATORS,
  type BinaryOperator,
  type MemberStep,
  type Template,
  TemplateError,
  type TextSpan,
} from './template.ts';

/** The maximum depth, which protects the stack. */
const MOST_DEPTH = 200;
const BLANK = /(?:\s|#.*)*/y;
const NAME = /\$?[A-Za-z][\w$-]*|\$/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt])/y;
const PLAIN = /[^"\\{]+/y;
const QUOTED = /'([^']*)'|"([^"]*)"/y;
/** Matches the next token, for error messages. */
const TOKEN = /\$?\w[\w$-]*|"|:=|==|!=|>=|<=|&&|\|\||\?\?|\{\{|[\s\S]/y;

const CONSTANTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);
const RESERVED: ReadonlySet<string> = new Set(['if', 'elif', 'else', 'end', 'range', 'in']);

/** Parses a whole template: JSON that may contain expressions. */
export function parseTemplate(source: string): Template {
  const parser = new Parser(source);
  const template = parser.expression();
  parser.end();
  return template;
}

/** Parses text that may contain expressions, such as a URL or a header. Everything outside of them is literal. */
export function parseText(source: string): Template {
  return new Parser(source).text(() => false, /[^{]+/y);
}

class Parser {
  readonly #source: string;
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
  }

  end(): void {
    this.#skip();
    if (this.#at < this.#source.length) this.#unexpected();
  }

  expression(level = 0): Template {
    const operators: readonly BinaryOperator[] | undefined = BINARY_OPERATORS[level];
    if (!operators) return this.#nested(() => this.#operand());
    let left = this.expression(level + 1);
    for (;;) {
      const operator = operators.find((each) => this.#takesOperator(each));
      if (!operator) return left;
      const right = this.expression(level + 1);
      const span = { start: left.span.start, end: right.span.end };
      left = { kind: 'binary', operator, left, right, span };
    }
  }

  /** Parses text until `isOver`. `plain` matches literal text. */
  text(isOver: () => boolean, plain: RegExp): Template {
    const start = this.#at;
    const parts: Template[] = [];
    while (this.#at < this.#source.length && !isOver()) parts.push(this.#part(plain));
    return { kind: 'text', parts, span: { start, end: this.#at } };
  }

  #part(plain: RegExp): Template {
    const start = this.#at;
    const literal = (value: string): Template => ({ kind: 'literal', value, span: this.#since(start) });
    if (this.#source.startsWith('{{', start)) return this.#braced();
    const escaped = plain === PLAIN ? this.#match(ESCAPE) : undefined;
    if (escaped) return literal(JSON.parse(`"${escaped[0]}"`) as string);
    const run = this.#match(plain)?.[0] ?? (this.#source[start] === '{' ? this.#advance(1) : undefined);
    return run === undefined ? this.#unexpected() : literal(run);
  }

  #nested(body: () => Template): Template {
    if (++this.#depth > MOST_DEPTH) this.#fail('The template is nested too deeply.');
    const template = body();
    this.#depth--;
    return template;
  }

  #operand(): Template {
    this.#skip();
    const start = this.#at;
    if (this.#source.startsWith('{{', start)) return this.#braced();
    switch (this.#source[start]) {
      case '"':
        return this.#string();
      case '[':
        return this.#array();
      case '{':
        return this.#object();
      case '(': {
        this.#expect('(');
        const inner = this.expression();
        this.#expect(')');
        return { ...inner, span: this.#since(start) };
      }
      default:
        return this.#number() ?? this.#named();
    }
  }

  #number(): Template | undefined {
    const start = this.#at;
    const digits = this.#match(NUMBER);
    return digits && { kind: 'literal', value: numberFrom(digits[0]), span: this.#since(start) };
  }

  #string(): Template {
    const start = this.#at;
    this.#expect('"');
    const text = this.text(() => this.#source[this.#at] === '"', PLAIN);
    this.#expect('"', false);
    return { ...text, span: this.#since(start) };
  }

  #array(): Template {
    const start = this.#at;
    this.#expect('[');
    const items = this.#list(']', () => this.expression());
    return { kind: 'array', items, span: this.#since(start) };
  }

  #object(): Template {
    const start = this.#at;
    this.#expect('{');
    const fields = this.#list('}', () => {
      const key = this.#key();
      this.#expect(':');
      return [key, this.expression()] as const;
    });
    return { kind: 'object', fields, span: this.#since(start) };
  }

  #key(): string {
    this.#skip();
    const start = this.#at;
    const key = this.#string();
    const parts = key.kind === 'text' ? key.parts : [];
    if (parts.every((part) => part.kind === 'literal')) return parts.map(({ value }) => value).join('');
    this.#at = start;
    return this.#fail('The key of an object holds no expressions.');
  }

  #list<T>(close: string, item: () => T): readonly T[] {
    const items: T[] = [];
    if (this.#takes(close)) return items;
    do items.push(item());
    while (this.#takes(','));
    this.#expect(close);
    return items;
  }

  /** Parses `{{ expression }}`, or a block that begins with one. */
  #braced(): Template {
    return this.#nested(() => {
      const start = this.#at;
      this.#expect('{{');
      if (this.#takesWord('if')) return this.#if(start);
      if (this.#takesWord('range')) return this.#range(start);
      const inner = this.expression();
      this.#expect('}}');
      return inner;
    });
  }

  #if(start: number): Template {
    const branches: { condition: Template; value: Template }[] = [];
    do {
      const condition = this.expression();
      this.#expect('}}');
      branches.push({ condition, value: this.expression() });
      this.#expect('{{');
    } while (this.#takesWord('elif'));
    this.#expectWord('else');
    this.#expect('}}');
    const otherwise = this.expression();
    this.#endBlock();
    return { kind: 'if', branches, otherwise, span: this.#since(start) };
  }

  #range(start: number): Template {
    const index = this.#takes('_') ? null : this.#name();
    this.#expect(',');
    const item = this.#name();
    this.#expect(':=');
    const over = this.expression();
    this.#expect('}}');
    const body = this.expression();
    this.#endBlock();
    return { kind: 'range', index, item, over, body, span: this.#since(start) };
  }

  #endBlock(): void {
    this.#expect('{{');
    this.#expectWord('end');
    this.#expect('}}');
  }

  /** Parses a constant, a path, or a function with its argument. */
  #named(): Template {
    const start = this.#at;
    const name = this.#name();
    const constant = CONSTANTS.get(name);
    if (constant !== undefined) return { kind: 'literal', value: constant, span: this.#since(start) };
    if (!name.startsWith('$') && this.#isArgumentNext()) {
      const argument = this.#nested(() => this.#operand());
      return { kind: 'call', name, argument, span: this.#since(start) };
    }
    const steps: MemberStep[] = [];
    for (let step = this.#step(); step; step = this.#step()) steps.push(step);
    return { kind: 'path', name, steps, span: this.#since(start) };
  }

  /** True when an argument follows. A list is an argument only after a space: `x[0]` is an item of x. */
  #isArgumentNext(): boolean {
    const next = this.#source.slice(this.#at);
    if (/^\s+(?:\w|\$)/.test(next)) return !/^\s+(?:if|elif|else|end|range|in)\b/.test(next);
    return /^\s*(?:["(]|\{(?!\{))|^\s+(?:\[|-\d)/.test(next);
  }

  #step(): MemberStep | undefined {
    const { isOptional, length } = this.#chain();
    if (length === 0 && this.#source[this.#at] !== '[') return undefined;
    this.#advance(length);
    if (this.#source[this.#at] !== '[') return { key: this.#name(), isOptional };
    this.#expect('[');
    const quoted = this.#match(QUOTED);
    const key = quoted ? (quoted[1] ?? quoted[2]!) : this.#placeOrPath();
    this.#expect(']');
    return { key, isOptional };
  }

  #placeOrPath(): number | Template {
    if (this.#source[this.#at] === '$') return this.#nested(() => this.#named());
    return Number(this.#match(/\d+/y)?.[0] ?? this.#unexpected());
  }

  /** Returns the separator before the next step of a path. */
  #chain(): { readonly isOptional: boolean; readonly length: number } {
    if (this.#source.startsWith('?.', this.#at)) return { isOptional: true, length: 2 };
    if (this.#source.startsWith('?[', this.#at)) return { isOptional: true, length: 1 };
    return { isOptional: false, length: this.#source[this.#at] === '.' ? 1 : 0 };
  }

  #name(): string {
    this.#skip();
    const start = this.#at;
    const name = this.#match(NAME)?.[0];
    if (name !== undefined && !RESERVED.has(name)) return name;
    this.#at = start;
    return this.#unexpected();
  }

  #takesOperator(operator: BinaryOperator): boolean {
    return operator === 'in' ? this.#takesWord(operator) : this.#takes(operator);
  }

  #takesWord(word: string): boolean {
    this.#skip();
    const start = this.#at;
    if (this.#match(NAME)?.[0] === word) return true;
    this.#at = start;
    return false;
  }

  #expectWord(word: string): void {
    if (!this.#takesWord(word)) this.#unexpected();
  }

  #takes(symbol: string): boolean {
    this.#skip();
    if (!this.#source.startsWith(symbol, this.#at)) return false;
    this.#at += symbol.length;
    return true;
  }

  #expect(symbol: string, mayFollowBlanks = true): void {
    if (mayFollowBlanks) this.#skip();
    if (!this.#source.startsWith(symbol, this.#at)) this.#unexpected();
    this.#at += symbol.length;
  }

  #skip(): void {
    this.#match(BLANK);
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#source);
    if (match) this.#at += match[0].length;
    return match ?? undefined;
  }

  #advance(length: number): string {
    this.#at += length;
    return this.#source.slice(this.#at - length, this.#at);
  }

  #since(start: number): TextSpan {
    return { start, end: this.#at };
  }

  #unexpected(): never {
    const start = this.#at;
    const token = this.#match(TOKEN)?.[0];
    this.#at = start;
    return this.#fail(
      token === undefined ? 'Unexpected end of the template.' : `Unexpected token '${token}'.`,
      token,
    );
  }

  #fail(message: string, token = ''): never {
    throw new TemplateError('Parse Error', message, { start: this.#at, end: this.#at + token.length });
  }
}
