/** Tests which responses are compressed, and that their content is unchanged. */
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { acceptsGzip, gzipped } from './gzip.ts';

test.for([
  ['gzip', true],
  ['deflate, gzip;q=0.5, br', true],
  ['x-gzip', true],
  ['gzip;q=1.0', true],
  ['gzip;q=0', false],
  ['gzip; q=0.000', false],
  ['deflate, br', false],
  ['', false],
  [undefined, false],
] as const)('%s', ([header, accepts]) => {
  expect(acceptsGzip(header)).toBe(accepts);
});

test('small bodies are not compressed', () => {
  expect(gzipped('{"data":{}}')).toBe('{"data":{}}');
});

test.for([2000, 400_000])(
  '%i bytes are unchanged after decompression, as text and in pieces',
  async (size) => {
    const text = 'ünï"'.repeat(size / 5);
    for (const body of [text, [Buffer.from(text.slice(0, 7)), Buffer.from(text.slice(7))]]) {
      const bytes = Buffer.concat((await gzipped(body)) as Buffer[]);
      expect(bytes.length).toBeLessThan(size / 10);
      expect(gunzipSync(bytes).toString()).toBe(text);
    }
  },
);

test('bodies that are compressed one after the other keep their content, and leave nothing behind', () => {
  const bodies = Array.from({ length: 200 }, (_, i) =>
    Buffer.from(`${i} ${'abc'.repeat(i * 401)}`.padEnd(1000)),
  );
  const compressed = bodies.map((body) => gzipped([body]) as Buffer[]);
  for (const [i, [bytes]] of compressed.entries()) expect(gunzipSync(bytes!).equals(bodies[i]!)).toBe(true);
  const handles = () => process.getActiveResourcesInfo().length;
  const before = handles();
  for (const body of bodies) gzipped([body]);
  expect(handles()).toBe(before);
});

test('a long body is compressed once, however often it is put together of the same long piece', async () => {
  const long = Buffer.alloc(400_000);
  const around = (start: string) => gzipped([Buffer.from(start), long, Buffer.from('}')]);
  expect(await around('{"a":')).toBe(await around('{"a":'));
  expect(await around('{"b":')).not.toBe(await around('{"a":'));
});
