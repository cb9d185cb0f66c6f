/** Tests that an engine says in its log, its metrics, its health and its versions which objects of the stored metadata it cannot parse.
 *  Not here: what happens to them (../admin/damaged-document.test.ts). */
import { expect, test } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import type { Observation } from '../observe/observation.ts';

const trigger = (name: string) => ({
  name,
  webhook: 'http://host',
  schedule: '0 0 1 1 *',
  include_in_metadata: true,
});

async function signsOf(engine: TestEngine) {
  const secret = { 'x-engine-admin-secret': engine.adminSecret };
  const text = async (path: string) => (await engine.fetch(path, { headers: secret })).text();
  const metrics = await text('/v1/metrics');
  const { state_version } = JSON.parse(await text('/v1alpha1/config'));
  return {
    damaged: /^pergola_metadata_damaged_objects (\d+)$/m.exec(metrics)?.[1],
    inconsistent: /^pergola_metadata_inconsistent_objects (\d+)$/m.exec(metrics)?.[1],
    health: await text('/healthz'),
    strict: (await engine.fetch('/healthz?strict=true')).status,
    stateVersion: state_version as string,
  };
}

test.each([1, 3, 25])('an engine that starts with %i damaged objects says so', async (count) => {
  const database = await createDatabase();
  const observations: Observation[] = [];
  const observe = (observation: Observation) => void observations.push(observation);
  const log = { observe, flush: () => {} };
  const start = () =>
    startTestEngine({
      databaseUrl: database.url,
      log,
      enabledApis: ['metadata', 'graphql', 'config', 'metrics'],
    });
  const reported = () =>
    observations.flatMap((one) =>
      one.kind === 'state' && one.event.kind === 'damaged objects' ? [one.event] : [],
    );
  let engine = await start();
  try {
    for (let i = 0; i < 26; i++) await engine.admin('create_cron_trigger', trigger(`t${i}`));
    expect(reported()).toEqual([]);
    const sound = await signsOf(engine);
    expect(sound).toMatchObject({ damaged: '0', inconsistent: '0', health: 'OK', strict: 200 });
    const { body } = await engine.admin<{ cron_triggers: object[] }>('export_metadata', {});
    const cron_triggers = body.cron_triggers.map((one, i) => (i < count ? { ...one, webhook: 5 } : one));
    await engine.close();
    await database.sql(
      `insert into pergola.whole (part, resource_version, content, bytes)
       select 'document', resource_version, $1::json, 1 from pergola.metadata
       on conflict (part, resource_version) do update set content = excluded.content`,
      [JSON.stringify({ ...body, cron_triggers })],
    );
    engine = await start();
    const [event, ...more] = reported();
    expect(more).toEqual([]);
    expect(event).toMatchObject({ count });
    expect(event!['objects']).toHaveLength(Math.min(count, 20));
    expect(JSON.stringify(event)).toContain('cron_trigger/t0');
    const damaged = await signsOf(engine);
    expect(damaged).toMatchObject({ damaged: `${count}`, inconsistent: `${count}`, strict: 500 });
    expect(damaged.health).toContain('inconsistent');
    // The operator compares it with that of the objects it was told about.
    expect(damaged.stateVersion).not.toBe(sound.stateVersion);
    expect(damaged.stateVersion).toMatch(new RegExp(`^${count}-`));
  } finally {
    await engine.close();
    await database.drop();
  }
});
