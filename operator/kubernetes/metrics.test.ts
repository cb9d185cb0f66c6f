/** Tests the operator's metrics as Prometheus reads them. */
import { expect, test } from 'vitest';
import { METRICS, Metrics } from './metrics.ts';

test('counters are summed by their labels', async () => {
  const metrics = new Metrics();
  metrics.add('pergola_pass_total', { engine: 'api/main', result: 'written' });
  metrics.add('pergola_pass_total', { engine: 'api/main', result: 'written' });
  metrics.add('pergola_pass_seconds_total', { engine: 'api/main' }, 0.5);
  const text = await metrics.text();
  expect(text).toContain('# TYPE pergola_pass_total counter\n');
  expect(text).toContain('pergola_pass_total{engine="api/main",result="written"} 2\n');
  expect(text).toContain('pergola_pass_seconds_total{engine="api/main"} 0.5\n');
  expect(text).toContain('process_resident_memory_bytes ');
});

test('metrics of a removed engine disappear', async () => {
  const metrics = new Metrics();
  let engines = ['api/main', 'api/other'];
  metrics.read('pergola_objects', () =>
    engines.map((engine) => ({ labels: { engine, state: 'owned' }, value: 3 })),
  );
  expect(await metrics.text()).toContain('pergola_objects{engine="api/other",state="owned"} 3\n');
  engines = ['api/main'];
  const text = await metrics.text();
  expect(text).toContain('pergola_objects{engine="api/main",state="owned"} 3\n');
  expect(text).not.toContain('api/other');
});

test('the names of counters, and no others, end in _total', () => {
  for (const [name, { type }] of Object.entries(METRICS)) {
    expect(name.endsWith('_total'), name).toBe(type === 'counter');
  }
});
