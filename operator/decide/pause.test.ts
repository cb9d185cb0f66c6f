/** Tests what pauses a resource, and until when. */
import { expect, test } from 'vitest';
import { table } from '../testing/resources.ts';
import { nextResumption, PAUSE_ANNOTATION, PLAN_ANNOTATION, pauseOf, withoutPause } from './pause.ts';

const NOON = new Date('2025-06-01T12:00:00Z');
const until = (time: string) => table('author', { annotations: { [PAUSE_ANNOTATION]: time } });

test('a resource is paused until the time of its annotation', () => {
  const evening = until('2025-06-01T20:00:00+02:00');
  expect(pauseOf(evening, NOON)).toEqual({
    reason: 'Paused',
    message: 'paused until 2025-06-01T18:00:00.000Z: its objects are left as they are',
  });
  expect(pauseOf(evening, new Date('2025-06-01T18:00:00Z'))).toBeUndefined();
  expect(pauseOf(table('author'), NOON)).toBeUndefined();
});

test.each(['tomorrow', '', '2025-06-02', '2025-06-02T12:00:00', '2025-13-01T00:00:00Z'])(
  'an invalid time is reported and pauses the resource: %s',
  (time) => {
    expect(pauseOf(until(time), NOON)).toMatchObject({
      reason: 'InvalidSpec',
      message: expect.stringContaining(time),
    });
  },
);

test('spec.suspend pauses a resource without an end', () => {
  const suspended = table('author', { spec: { suspend: true } });
  expect(pauseOf(suspended, NOON)?.reason).toBe('Paused');
  expect(nextResumption([suspended], NOON)).toBeUndefined();
});

test('the next resumption is the earliest future end of a pause', () => {
  const resources = ['2025-06-01T13:00:00Z', '2025-06-01T11:00:00Z', '2025-06-01T12:30:00Z', 'never'].map(
    until,
  );
  expect(nextResumption(resources, NOON)).toBe(Date.parse('2025-06-01T12:30:00Z'));
});

test('removing the pause of a resource changes nothing else in it', () => {
  const annotations = {
    [PAUSE_ANNOTATION]: '2030-01-01T00:00:00Z',
    [PLAN_ANNOTATION]: 'true',
    mine: 'stays',
  };
  const held = table('author', { annotations, spec: { suspend: true } });
  expect(pauseOf(withoutPause(held), NOON)).toBeUndefined();
  expect(withoutPause(held)).toEqual(table('author', { annotations: { mine: 'stays' } }));
});
