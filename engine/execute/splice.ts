/** Response text from a template and the rows of its statements: text between text, nothing parsed. */
import type { TemplatePart } from '../sql/plan.ts';
import type { Row } from './pool.ts';

export function splice(template: readonly TemplatePart[], rows: readonly Row[]): string {
  let text = '';
  for (const part of template) {
    text += part.kind === 'text' ? part.text : (rows[part.statement]?.[part.column] ?? 'null');
  }
  return text;
}
