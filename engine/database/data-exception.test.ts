import { expect, test } from 'vitest';
import { textForRole } from './data-exception.ts';

test.each([
  ['22P02', 'invalid input syntax for type integer: "secret"', 'invalid input syntax for type integer'],
  ['22P02', 'invalid input syntax for type "odd: type": "x"', 'invalid input syntax for type "odd: type"'],
  ['22P02', 'invalid input value for enum mood: "x"', 'invalid input value for enum mood'],
  ['22P02', 'malformed array literal: "secret"', 'malformed array literal'],
  ['22003', 'value "99999999999" is out of range for type integer', 'numeric value out of range'],
  ['22003', 'integer out of range', 'integer out of range'],
  ['22012', 'division by zero', 'division by zero'],
  ['22001', 'value too long for type character varying(3)', 'value too long for type character varying(3)'],
  ['22008', 'date/time field value out of range: "2024-13-45"', 'datetime field overflow'],
  ['22023', 'unit "secret" not recognized for type date', 'invalid parameter value'],
  ['2201B', 'invalid regular expression: parentheses () not balanced', 'invalid regular expression'],
  ['22P02', 'ungültige Eingabesyntax für Typ integer: »secret«', 'invalid text representation'],
  ['22999', 'secret', 'data exception'],
  ['42704', 'type "secret" does not exist', 'undefined object'],
])('%s %s', (code, message, text) => {
  expect(textForRole({ code, message })).toBe(text);
});

test('a role reads whole what is about its own parameters, and what the author of a function says', () => {
  const message = 'invalid input syntax for type integer: "mine"';
  expect(textForRole({ code: '22P02', message, isBeforeRun: true })).toBe(message);
  expect(textForRole({ code: '22000', message: 'too short', routine: 'exec_stmt_raise' })).toBe('too short');
});
