import { afterEach, describe, expect, it } from 'vitest';
import type { Reply } from '../../src/protocol/reply.ts';
import { byId, crashingForAll } from './support/crashing.ts';
import { type Message, v2 } from './support/messages.ts';

// Deaths where a message does not go the usual way: it fails through our side and is parked, or it waits for its device.

const service = crashingForAll();
afterEach(() => service.sandbox.faults.clear());

const objectId = 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const pump = { model: 'svc.device', type: 'pump', properties: { serial: 'FP-1' } };
const create = v2('model.create', { ...pump, objectId });
const update = (version: number): Message =>
  v2(
    'model.update',
    { ...pump, variables: { pressure: version }, version },
    { objectId, correlationId: `update ${version}` },
  );

/** Every failure through our side has an incident of its own. */
const withoutIncidents = (replies: readonly Reply[]) =>
  byId(replies.map((reply) => ({ ...reply, body: reply.body.replace(/incident [\da-f-]{36}/, 'incident') })));

describe('a process that dies at any step of', () => {
  it('a message that fails through our side leaves exactly one dead letter of it', async () => {
    const { begin, live, world } = service;
    service.sandbox.faults.add({ backend: 'informationModel', method: 'PUT', status: 500 });
    const whole = await begin([update(1)], [create]);
    const { points } = await live(whole.events, -1, whole.remains);
    const expected = { world: world(), replies: withoutIncidents(whole.remains.replies) };
    expect(whole.remains.replies.map(({ body }) => JSON.parse(body).code)).toEqual(['internal_platform_error']);

    for (let crashAt = 1; crashAt <= points; crashAt += 1) {
      const { remains, events, newest } = await begin([update(1)], [create]);
      expect((await live(events, -1, remains, { crashAt })).died).toBe(true);
      if (remains.progress?.sequenceNumber !== newest) await live(events, newest, remains);
      const place = `died at point ${crashAt} of ${points}`;
      const letters = await remains.letters.list();
      expect(
        letters.map(({ letter }) => [letter.event.sequenceNumber, Buffer.from(letter.event.body as Uint8Array)]),
        place,
      ).toEqual([[newest, events[0]?.body]]);
      expect({ world: world(), replies: withoutIncidents(remains.replies) }, place).toEqual(expected);
    }
  });

  it('a message that fails through our side, and succeeds when it is handled again, leaves no dead letter of it', async () => {
    const { begin, live, world, sandbox } = service;
    const whole = await begin([update(1)], [create]);
    await live(whole.events, -1, whole.remains);
    const expected = { world: world(), success: [...byId(whole.remains.replies).keys()] };
    const failing = { backend: 'informationModel', method: 'PUT', status: 500 } as const;
    sandbox.faults.add(failing);
    const { points } = await live(...(await beginning()));

    for (let crashAt = 1; crashAt <= points; crashAt += 1) {
      sandbox.faults.clear();
      sandbox.faults.add(failing);
      const [events, redeliveryHorizon, remains] = await beginning();
      await live(events, redeliveryHorizon, remains, { crashAt });
      const newest = events.at(-1)?.sequenceNumber ?? -1;
      if (remains.progress?.sequenceNumber === newest) continue;
      sandbox.faults.clear();
      await live(events, newest, remains);
      const place = `died at point ${crashAt} of ${points}`;
      expect(await remains.letters.list(), place).toEqual([]);
      expect(world(), place).toEqual(expected.world);
      const idsOf = (code: string) =>
        remains.replies.filter(({ body }) => JSON.parse(body).code === code).map(({ messageId }) => messageId);
      expect(idsOf('ok'), place).toEqual(expected.success);
      for (const id of idsOf('internal_platform_error')) expect(expected.success, place).not.toContain(id);
    }

    async function beginning() {
      const { remains, events } = await begin([update(1)], [create]);
      return [events, -1, remains] as const;
    }
  });

  it('messages that wait loses none of them, and keeps their order', async () => {
    const { begin, live, world } = service;
    const flood = [1, 2, 3, 4].map(update);
    const whole = await begin(flood, [create]);
    const { points } = await live(whole.events, -1, whole.remains);
    const expected = { world: world(), replies: byId(whole.remains.replies) };
    expect(whole.remains.replies.map(({ body }) => JSON.parse(body).version)).toEqual([2, 3, 4, 5]);

    for (let crashAt = 1; crashAt <= points; crashAt += 1) {
      const { remains, events, newest } = await begin(flood, [create]);
      expect((await live(events, -1, remains, { crashAt })).died).toBe(true);
      if (remains.progress?.sequenceNumber !== newest) await live(events, newest, remains);
      const place = `died at point ${crashAt} of ${points}`;
      expect({ world: world(), replies: byId(remains.replies) }, place).toEqual(expected);
      expect([...byId(remains.replies).keys()], place).toEqual([...expected.replies.keys()]);
      expect(await remains.letters.list(), place).toEqual([]);
    }
  });
});
