/** Tests that a text about the schema is written once for all requests, one text after the other, and again after a failure. */
import { expect, test } from 'vitest';
import type { Steps } from '../metadata/steps.ts';
import { SchemaText, type TextOutput } from '../plan/schema-text.ts';
import { as } from '../plan/testing/ask.ts';
import { schemaText } from './schema-text.ts';

const LONG = 'x'.repeat(70_000);
const events: string[] = [];

function textThat(
  name: string,
  write: (output: TextOutput) => void = (output) => output.add(name),
): SchemaText {
  return new SchemaText(as('admin'), new Map(), function* (output): Steps<void> {
    events.push(`${name} begins`);
    const until = performance.now() + 20;
    while (performance.now() < until) yield;
    write(output);
    events.push(`${name} ends`);
  });
}

test('requests at the same time and later ones have one text', async () => {
  events.length = 0;
  const text = textThat('once', (output) => output.add(LONG));
  const both = await Promise.all([schemaText(text), schemaText(text)]);
  expect(both[0]).toBeInstanceOf(Buffer);
  expect(String(both[0])).toBe(LONG);
  expect(both[1]).toBe(both[0]);
  expect(await schemaText(text)).toBe(both[0]);
  expect(events).toEqual(['once begins', 'once ends']);
});

test('one text is written after the other', async () => {
  events.length = 0;
  await Promise.all([schemaText(textThat('1')), schemaText(textThat('2'))]);
  expect(events).toEqual(['1 begins', '1 ends', '2 begins', '2 ends']);
});

test('a text that fails fails for those who wait, and is written again for the next', async () => {
  let isBroken = true;
  const text = textThat('broken', (output) => {
    if (isBroken) throw new Error('of the writer');
    output.add('"whole"');
  });
  const settled = await Promise.allSettled([schemaText(text), schemaText(text)]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isBroken = false;
  expect(await schemaText(text)).toBe('"whole"');
});
