/** Evaluates a template with bindings to a JSON value. Raises TemplateError for unknown names, missing attributes and wrong types.
 *  Not here: functions (functions.ts), bindings (request.ts, response.ts). Reference: docs/reference/behaviour/actions.md. */
import { isNumber, isSameAmount, nearestNumber } from '../json/number.ts';
import { isRecord, nameOfJson } from '../json/value.ts';
import type { Budget } from './budget.ts';
import { FUNCTIONS, FunctionProblem } from './functions.ts';
import { type BinaryOperator, type Template, TemplateError, type TextSpan } from './template.ts';

/** Values by name, with the `$`: `$body` for example. */
export type Bindings = ReadonlyMap<string, unknown>;

/** The bindings of a transform, its budget, and functions that depend on the request. */
export type TemplateScope = {
  readonly bindings: Bindings;
  readonly functions: ReadonlyMap<string, (argument: unknown) => unknown>;
  /** The budget of the whole transform. */
  readonly budget: Budget;
};

export function evaluate(template: Template, scope: TemplateScope): unknown {
  scope.budget.step(template.span);
  switch (template.kind) {
    case 'literal':
      return template.value;
    case 'text':
      return template.parts.map((part) => counted(evaluate(part, scope), part.span, scope)).join('');
    case 'array':
      return template.items.map((item) => evaluate(item, scope));
    case 'object':
      return Object.fromEntries(template.fields.map(([key, value]) => [key, evaluate(value, scope)]));
    case 'path':
      return valueAt(template, scope);
    case 'if': {
      const branch = template.branches.find(({ condition }) => isTrue(condition, scope));
      return evaluate(branch?.value ?? template.otherwise, scope);
    }
    case 'range':
      return evaluateRange(template, scope);
    case 'call':
      return evaluateCall(template, scope);
    case 'binary':
      return evaluateBinary(template, scope);
    default:
      return template satisfies never;
  }
}

/** Returns the value as a piece of the template's output, and charges its characters. */
function counted(value: unknown, span: TextSpan, { budget }: TemplateScope): string {
  budget.weigh(span, value);
  return printed(value);
}

/** Prints a value as text: strings as they are, other values as JSON. */
function printed(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Prints a value for an error message. */
function printedInMessage(value: unknown): string {
  if (typeof value !== 'object' || value === null || isNumber(value))
    return printed(value).slice(0, MOST_SHOWN);
  return nameOfJson(value);
}

const MOST_SHOWN = 200;

type Of<K extends Template['kind']> = Extract<Template, { kind: K }>;

function valueAt({ name, steps, span }: Of<'path'>, scope: TemplateScope): unknown {
  const { bindings, budget } = scope;
  budget.step(span, steps.length);
  if (!bindings.has(name)) throw new TemplateError('Name Error', `Variable '${name}' not in scope`, span);
  let value = bindings.get(name);
  for (const { key: given, isOptional } of steps) {
    const key = typeof given === 'object' ? keyFrom(evaluate(given, scope), given.span) : given;
    const found = memberOf(value, key);
    if (found === undefined) {
      if (isOptional) return null;
      throw missing(value, key, span);
    }
    value = found;
  }
  return value;
}

function keyFrom(value: unknown, span: TextSpan): string | number {
  if (typeof value === 'string' || typeof value === 'number') return value;
  throw new TemplateError('Type Error', `${printedInMessage(value)} is not a String.`, span);
}

/** Returns a member; undefined if there is none. */
function memberOf(value: unknown, key: string | number): unknown {
  if (typeof key === 'number') return Array.isArray(value) ? value[key] : undefined;
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function missing(value: unknown, key: string | number, span: TextSpan): TemplateError {
  const isIndex = typeof key === 'number' && Array.isArray(value);
  return isIndex
    ? new TemplateError('Index Error', `Index out of range: ${key}.`, span)
    : new TemplateError('Attribute Error', `'${nameOfJson(value)}' has no attribute '${key}'.`, span);
}

function evaluateRange({ index, item, over, body, span }: Of<'range'>, scope: TemplateScope): unknown {
  const list = evaluate(over, scope);
  if (!Array.isArray(list)) throw new TemplateError('Range Error', 'Can only range over an array', span);
  scope.budget.step(span, scope.bindings.size);
  // Nothing keeps the bindings of an item, so that all items have the same ones, one after the other.
  const bindings = new Map(scope.bindings);
  const inner = { ...scope, bindings };
  return list.map((value: unknown, i) => {
    bindings.set(item, value);
    if (index !== null) bindings.set(index, i);
    return evaluate(body, inner);
  });
}

function evaluateCall({ name, argument, span }: Of<'call'>, scope: TemplateScope): unknown {
  const fn = scope.functions.get(name) ?? FUNCTIONS.get(name);
  if (!fn) throw new TemplateError('Name Error', `Variable '${name}' not in scope`, span);
  const given = evaluate(argument, scope);
  scope.budget.read(argument.span, given);
  try {
    return fn(given);
  } catch (error) {
    if (!(error instanceof FunctionProblem)) throw error;
    throw new TemplateError('Function Error', error.message, argument.span);
  }
}

function evaluateBinary({ operator, left, right, span }: Of<'binary'>, scope: TemplateScope): unknown {
  if (operator === '&&') return isTrue(left, scope) && isTrue(right, scope);
  if (operator === '||') return isTrue(left, scope) || isTrue(right, scope);
  const value = evaluate(left, scope);
  if (operator === '??') return value ?? evaluate(right, scope);
  return compared(operator, value, evaluate(right, scope), { span, scope });
}

/** The comparison that is evaluated, for errors and for the budget. */
type At = { readonly span: TextSpan; readonly scope: TemplateScope };

function compared(
  operator: Exclude<BinaryOperator, '&&' | '||' | '??'>,
  left: unknown,
  right: unknown,
  at: At,
): boolean {
  switch (operator) {
    case '==':
      return isEqual(left, right, at);
    case '!=':
      return !isEqual(left, right, at);
    case 'in':
      return isIn(left, right, at);
    default: {
      const order = orderOf(left, right, at.span);
      if (order === 0) return operator.endsWith('=');
      return operator.startsWith('<') ? order < 0 : order > 0;
    }
  }
}

function orderOf(one: unknown, other: unknown, span: TextSpan): number {
  const [left, right] = [nearestNumber(one), nearestNumber(other)];
  const isOrdered = (typeof left === 'number' || typeof left === 'string') && typeof left === typeof right;
  if (isOrdered) return left === right ? 0 : left < (right as typeof left) ? -1 : 1;
  const types = `'${nameOfJson(left)}' and '${nameOfJson(right)}'`;
  throw new TemplateError('Type Error', `Cannot compare ${types}.`, span);
}

function isIn(value: unknown, container: unknown, at: At): boolean {
  const { span } = at;
  if (Array.isArray(container)) return container.some((item) => isEqual(item, value, at));
  if (nameOfJson(container) !== 'Object') {
    throw new TemplateError('Type Error', `${printedInMessage(container)} is not an Object or Array.`, span);
  }
  if (typeof value === 'string') return Object.hasOwn(container as object, value);
  throw new TemplateError('Type Error', `${printedInMessage(value)} is not a String.`, span);
}

function isEqual(a: unknown, b: unknown, at: At): boolean {
  at.scope.budget.step(at.span);
  if (a === b || isSameAmount(a, b)) return true;
  if (nameOfJson(a) !== nameOfJson(b) || typeof a !== 'object' || isNumber(a)) return false;
  const [ours, theirs] = [Object.entries(a as object), Object.entries(b as object)];
  at.scope.budget.step(at.span, ours.length + theirs.length);
  return (
    ours.length === theirs.length &&
    ours.every(([key, value]) => isEqual(value, memberAt(b as object, key), at))
  );
}

function memberAt(value: object, key: string): unknown {
  return Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

function isTrue(condition: Template, scope: TemplateScope): boolean {
  const value = evaluate(condition, scope);
  if (typeof value === 'boolean') return value;
  throw new TemplateError('Type Error', `'${printedInMessage(value)}' is not a boolean.`, condition.span);
}
