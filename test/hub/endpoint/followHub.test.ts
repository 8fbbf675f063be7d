import { describe, expect, it, vi } from 'vitest';
import { enterEndpoint } from '../../../src/hub/endpoint/endpointRecord.ts';
import type { EventEndpoint } from '../../../src/hub/endpoint/eventEndpoint.ts';
import { type FollowOptions, followHub } from '../../../src/hub/endpoint/followHub.ts';
import { NoEndpoint } from '../../../src/hub/endpoint/lookUp.ts';
import type { Consumer } from '../../../src/hub/reading/consumer.ts';
import type { DurableText } from '../../../src/hub/stores/buildRecord.ts';
import type { Log } from '../../../src/log/log.ts';
import { createTroubles } from '../../../src/log/troubles.ts';
import { createMeter } from '../../../src/metrics/meter.ts';
import { readingOf, recordingLog } from '../../support/observed.ts';
import { withFakeTimers } from '../../support/waiting.ts';

withFakeTimers();

const at = (eventHub: string): EventEndpoint => ({ namespace: `${eventHub}.example`, eventHub });

const limits = {
  ...{ unreadMs: 30_000, eventlessMs: 120_000, overlapMs: 300_000 },
  ...{ finishMs: 300_000, othersMs: 355_000 },
};

/** A hub that can fail over, a store for the record of its endpoints, and what the endpoints do. */
function setUp(more: Partial<FollowOptions> = {}) {
  const hub = { named: at('east') as EventEndpoint | Error, asked: 0 };
  const states = new Map<string, { missing: string[]; waiting: number; others: number }>();
  const stateOf = (eventHub: string) => {
    const state = states.get(eventHub) ?? { missing: [], waiting: 0, others: 0 };
    states.set(eventHub, state);
    return state;
  };
  const course: string[] = [];
  let text: string | undefined;
  const record: DurableText = {
    read: async () => (text === undefined ? undefined : { text, etag: text }),
    async write(next) {
      text = next;
      return true;
    },
  };
  const recorded = recordingLog();
  const log = { ...recorded, debug: () => undefined } as unknown as Log;
  const troubles = createTroubles(log);
  const meter = createMeter();
  const seen = new Map<string, (event: { enqueuedTimeUtc: Date }) => void>();

  const begin = (options: Partial<FollowOptions> = {}) => {
    const follower = followHub({
      async lookUp() {
        hub.asked += 1;
        if (hub.named instanceof Error) throw hub.named;
        return hub.named;
      },
      enter: (endpoint) => enterEndpoint(record, endpoint),
      async open({ eventHub }, start, onEvent) {
        seen.set(eventHub, onEvent);
        const from = start instanceof Date ? start.toISOString() : start;
        const consumer = {
          start: () => course.push(`${eventHub} is read from ${from}`),
          stop: async () => void course.push(`${eventHub} is left`),
          missing: () => stateOf(eventHub).missing,
          silentForMs: () => 0,
          waiting: () => ({ messages: stateOf(eventHub).waiting, partitions: [] }),
        } as unknown as Consumer;
        return consumer;
      },
      ownedByOthers: async (endpoints) => endpoints.reduce((sum, { eventHub }) => sum + stateOf(eventHub).others, 0),
      startPosition: 'latest',
      failoverPosition: 'overlap',
      ...{ limits, log, troubles, meter },
      ...more,
      ...options,
    });
    follower.start();
    return follower;
  };
  const events = () => recorded.lines.map(({ level, message }) => `${level}: ${message}`);
  return { hub, stateOf, course, begin, seen, lines: recorded.lines, events, meter };
}

const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);
const failedOver = 'warn: the hub has failed over: it has another event endpoint';

describe('a hub that has no failover', () => {
  it('is asked once, and read from the start position', async () => {
    const { hub, course, begin, seen, events } = setUp();
    const follower = begin();
    expect(follower.missing()).toEqual(['the hub’s event endpoint: it is looked up']);
    await seconds(1);
    for (let minute = 0; minute < 10; minute += 1) {
      await seconds(60);
      seen.get('east')?.({ enqueuedTimeUtc: new Date() });
    }
    expect([hub.asked, course, follower.missing()]).toEqual([1, ['east is read from latest'], []]);
    expect(events()).toEqual(['info: the hub’s event endpoint is found']);
    await follower.stop();
    expect(course).toEqual(['east is read from latest', 'east is left']);
  });

  it('is not left when it names the same endpoint again', async () => {
    const { hub, course, lines, begin, stateOf } = setUp();
    begin();
    await seconds(1);
    stateOf('east').missing = ['partition 0'];
    await seconds(95);
    expect([hub.asked, course, lines.filter(({ level }) => level === 'warn')]).toEqual([
      4,
      ['east is read from latest'],
      [],
    ]);
  });

  it('that cannot be asked is asked every five seconds, and the readiness and one trouble say why', async () => {
    const { hub, course, begin, lines } = setUp();
    hub.named = new NoEndpoint('no such key', 'amqp:unauthorized-access');
    const follower = begin();
    await seconds(13);
    expect([hub.asked, follower.missing()]).toEqual([
      3,
      ['the hub’s event endpoint: no such key (HUB_SERVICE_CONNECTION_STRING)'],
    ]);
    expect(lines).toMatchObject([
      { level: 'warn', fields: { setting: 'HUB_SERVICE_CONNECTION_STRING', cause: 'amqp:unauthorized-access' } },
    ]);
    expect(follower.silentForMs()).toBeLessThan(5_000); // a refusal is an answer: a restart would change nothing
    hub.named = at('east');
    await seconds(6);
    expect(course).toEqual(['east is read from latest']);
  });
});

describe('a hub that fails over', () => {
  /** East has had an event at noon, and refuses; the hub names west. */
  async function failOver(options: Partial<FollowOptions> = {}) {
    const parts = setUp(options);
    const follower = parts.begin();
    await seconds(1);
    for (const time of ['2026-11-25T12:00:00Z', '2026-11-25T11:00:00Z'])
      parts.seen.get('east')?.({ enqueuedTimeUtc: new Date(time) });
    parts.hub.named = at('west');
    parts.stateOf('east').missing = ['partition 0'];
    return { ...parts, follower };
  }

  it('is read at the other endpoint, from before the newest event of the first, counted and logged', async () => {
    const { course, lines, meter } = await failOver();
    await seconds(29);
    expect(course).toEqual(['east is read from latest']);
    await seconds(3);
    expect(course.slice(1)).toEqual(['east is left', 'west is read from 2026-11-25T11:55:00.000Z']);
    expect(readingOf(meter, 'device_messaging.endpoint.changes')).toEqual({ '': 1 });
    expect(lines.slice(1)).toMatchObject([
      { level: 'warn', fields: { from: 'east.example/east', to: 'west.example/west' } },
      { level: 'info', message: 'the hub can be read again' },
      { level: 'info', fields: { endpoint: 'west.example/west', start: '2026-11-25T11:55:00.000Z', unfinished: 0 } },
    ]);
  });

  it('in silence, is noticed after two minutes without an event', async () => {
    const { stateOf, course } = await failOver();
    stateOf('east').missing = [];
    await seconds(118);
    expect(course).toHaveLength(1);
    await seconds(5);
    expect(course.at(-1)).toBe('west is read from 2026-11-25T11:55:00.000Z');
  });

  it.each(['earliest', 'latest'] as const)('is read from the %s event, if the setting says so', async (position) => {
    const { course } = await failOver({ failoverPosition: position });
    await seconds(35);
    expect(course.at(-1)).toBe(`west is read from ${position}`);
  });

  it('is read there only when the messages that were read before are done, or have had five minutes', async () => {
    const { stateOf, course, lines } = await failOver();
    stateOf('east').waiting = 7;
    await seconds(200);
    expect(course).toHaveLength(1);
    stateOf('east').waiting = 3;
    await seconds(140);
    expect(course.at(-1)).toMatch(/^west is read/);
    expect(lines.at(-1)?.fields).toMatchObject({ unfinished: 3 });
  });

  it('is read there only when other instances have left the first, or have had the time in which they lose it', async () => {
    const { stateOf, course } = await failOver();
    stateOf('east').others = 2;
    await seconds(60);
    expect(course.slice(1)).toEqual(['east is left']);
    stateOf('east').others = 0;
    await seconds(2);
    expect(course.at(-1)).toMatch(/^west is read/);
  });

  it('and back before the other endpoint is read, is not left', async () => {
    const { hub, stateOf, course, meter } = await failOver();
    stateOf('east').waiting = 1;
    await seconds(35);
    hub.named = at('east');
    await seconds(60);
    stateOf('east').waiting = 0;
    await seconds(60);
    expect(course).toHaveLength(1);
    expect(readingOf(meter, 'device_messaging.endpoint.changes')).toEqual({ '': 2 });
  });

  it('is read there by a new instance, too, only when the others have left the first', async () => {
    const { follower, stateOf, begin, course } = await failOver();
    await seconds(35);
    await follower.stop();
    stateOf('east').others = 1;
    const joined = begin();
    await seconds(60);
    expect(course.at(-1)).toBe('west is left');
    expect(joined.missing()).toEqual([
      'the hub’s event endpoint: other instances still have work of the endpoint before',
    ]);
    stateOf('east').others = 0;
    await seconds(2);
    expect(course.at(-1)).toMatch(/^west is read/);
  });

  it.each([false, true])(
    'and back while the others have work of the first, is not waited for there: by a new instance %s',
    async (isNew) => {
      const { follower, hub, stateOf, begin, course } = await failOver();
      if (isNew) await follower.stop();
      stateOf('east').others = 1;
      if (isNew) begin();
      await seconds(35);
      hub.named = at('east');
      await seconds(33);
      expect(course.slice(1)).toEqual(['east is left', 'west is left', 'east is read from earliest']);
    },
  );

  it('there and back, is counted twice, and what has no checkpoint at the first is read from its first event', async () => {
    const { hub, stateOf, course, meter, seen } = await failOver();
    await seconds(35);
    seen.get('west')?.({ enqueuedTimeUtc: new Date('2026-11-25T13:00:00Z') });
    hub.named = at('east');
    stateOf('west').missing = ['partition 0'];
    stateOf('east').missing = [];
    await seconds(35);
    expect(course.at(-1)).toBe('east is read from earliest');
    expect(readingOf(meter, 'device_messaging.endpoint.changes')).toEqual({ '': 2 });
  });

  it('is read from the same position after a restart', async () => {
    const { follower, begin, course, events } = await failOver();
    await seconds(35);
    await follower.stop();
    begin();
    await seconds(1);
    expect(course.at(-1)).toBe('west is read from 2026-11-25T11:55:00.000Z');
    expect(events().filter((one) => one === failedOver)).toHaveLength(1);
  });

  it('while no instance runs, is told at the start, and read from the first event: the newest one before is not known', async () => {
    const { follower, begin, course, events, meter } = await failOver();
    await follower.stop();
    begin();
    await seconds(1);
    expect(course.at(-1)).toBe('west is read from earliest');
    expect(events().filter((one) => one === failedOver)).toHaveLength(1);
    expect(readingOf(meter, 'device_messaging.endpoint.changes')).toEqual({ '': 1 });
  });

  it('to an endpoint that cannot be opened is tried again, and the first is not left before', async () => {
    let fails = true;
    const enter: FollowOptions['enter'] = async (endpoint) => {
      if (fails && endpoint.eventHub === 'west') throw new Error('the store is away');
      return { endpoint, others: endpoint.eventHub === 'west' ? [at('east')] : [], isNew: true };
    };
    const { course, lines } = await failOver({ enter });
    await seconds(60);
    expect(course).toHaveLength(1);
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'error', message: 'the hub’s event endpoint cannot be opened; trying again' }),
    );
    fails = false;
    await seconds(6);
    expect(course.at(-1)).toMatch(/^west is read/);
  });

  it('during a stop is not followed', async () => {
    const { follower, course } = await failOver();
    await follower.stop();
    await seconds(200);
    expect(course).toEqual(['east is read from latest', 'east is left']);
  });
});
