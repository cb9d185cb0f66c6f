/** Evaluates the text of a template with bindings. Every error is a TransformError with its position in the text.
 *  Not here: the kinds of templates and their bindings (request.ts, response.ts). */
import { Budget } from './budget.ts';
import { type Bindings, evaluate, type TemplateScope } from './evaluate.ts';
import { FunctionProblem } from './functions.ts';
import { parseTemplate, parseText } from './parse.ts';
import { type Template, TemplateError, type TemplateProblem } from './template.ts';

/** A failed transform. `problem` is for administrators. */
export class TransformError extends Error {
  readonly problem: TemplateProblem;

  constructor(problem: TemplateProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

/** Session variables under the names that clients use, in lower case. */
export type SessionVariables = Readonly<Record<string, string>>;

export function scopeOf(bindings: Bindings, session: SessionVariables): TemplateScope {
  return {
    bindings,
    budget: new Budget(),
    functions: new Map([['getSessionVariable', (name: unknown) => sessionVariable(name, session)]]),
  };
}

/** Returns the value of a template that is JSON with expressions. */
export function rendered(source: string, scope: TemplateScope): unknown {
  return withPosition(source, () => {
    const template = parseTemplate(source);
    const value = evaluate(template, scope);
    scope.budget.weigh(template.span, value);
    return value;
  });
}

/** Returns the value of text with expressions, such as a URL. */
export function renderedText(source: string, scope: TemplateScope): string {
  return withPosition(source, () => String(evaluate(parseText(source), scope)));
}

/** Parses a template without evaluating it. Raises TransformError. */
export function parseChecked(source: string): Template {
  return withPosition(source, () => parseTemplate(source));
}

/** Runs `body` and converts its TemplateError to a TransformError with the position in the text. */
export function withPosition<T>(source: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (error instanceof TemplateError) throw new TransformError(error.problem(source));
    throw error;
  }
}

function sessionVariable(name: unknown, session: SessionVariables): string {
  if (typeof name !== 'string') throw new FunctionProblem('Expected a string');
  const value = Object.hasOwn(session, name.toLowerCase()) ? session[name.toLowerCase()] : undefined;
  if (value !== undefined) return value;
  throw new FunctionProblem(`Session variable ${JSON.stringify(name)} not found`);
}
