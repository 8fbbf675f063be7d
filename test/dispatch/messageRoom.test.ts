import type { AxiosAdapter } from 'axios';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { MessageCharge } from '../../src/engine/charge.ts';
import type { MessageContext } from '../../src/engine/work.ts';
import { bytesBeforeRoom } from '../../src/objectModel/collect.ts';
import { bytesHeld, bytesReceived, bytesToReserve } from '../../src/protocol/body.ts';
import { readJson } from '../../src/protocol/json.ts';
import { maxReplyBytes, type Reply } from '../../src/protocol/reply.ts';
import type { Delivery } from '../../src/protocol/vocabulary.ts';
import { messageLimits } from '../../src/settings/constants.ts';
import { hubEvent, requestProperties } from '../support/events.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { forever, receivedMessageOf, wire } from '../support/wiring.ts';

// Room for what a walk keeps until its replies have been handed over (A10).

withFakeTimers();

const objectId = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const model = 'svc.device';
const whole = messageLimits.maxSyncBytes;

interface Walk {
  readonly children: number;
  readonly bytes: number;
  readonly forbidden?: number;
  readonly send?: (reply: Reply) => Promise<Delivery>;
}

/** Handles a request for a model with children. What the partition says is up to `charge`. */
function sync(
  { children, bytes, forbidden, send = async () => 'delivered' }: Walk,
  charge: Partial<MessageCharge>,
  context: Partial<MessageContext> = {},
) {
  const calls: string[] = [];
  const texts = new Map(Array.from({ length: children + 1 }, (_, index) => [objectId(index), textOf(index)]));
  function textOf(index: number) {
    const text = (note: string) => JSON.stringify({ objectId: objectId(index), model, version: 1, note });
    return index === 0 ? text('') : text('x'.repeat(bytes - text('').length));
  }
  const adapter: AxiosAdapter = async (config) => {
    const [, , id = '', , , isOfReferences] = (config.url ?? '').split('/');
    calls.push(`${isOfReferences ? 'references of ' : ''}${Number(id.slice(-12))}`);
    const data = Array.from({ length: children }, (_, index) => ({
      name: 'parts',
      to: { objectId: objectId(index + 1), model },
    }));
    const text = isOfReferences ? JSON.stringify({ data }) : (texts.get(id) ?? '');
    const status = id === objectId(forbidden ?? -1) ? 403 : 200;
    return { status, statusText: '', headers: {}, data: Buffer.from(text), config };
  };
  const replies: Reply[] = [];
  const { backends, dispatch } = wire({
    adapter,
    send(reply) {
      replies.push(reply);
      return send(reply);
    },
  });
  onTestFinished(() => backends.close());
  const event = hubEvent({
    properties: requestProperties.V1('Svc.Device.SyncModel'),
    body: { objectId: objectId(0), model, hierarchical: true },
  });
  const held: (number | undefined)[] = [];
  const handled = dispatch(receivedMessageOf(event), {
    ...forever,
    charge: {
      ...forever.charge,
      shrink: (less) => void held.push(-less),
      aside(...left) {
        held.push(...left);
      },
      ...charge,
    },
    ...context,
  });
  const reserved = bytesToReserve(event, messageLimits.maxInflatedBytes);
  const inWork = bytesHeld(event, readJson(event.body as Buffer));
  const ackBytes = 1_000 + (event.body as Buffer).length;
  const code = () => JSON.parse(replies.at(-1)?.body ?? '{}').code;
  return { calls, event, handled, held, replies, reserved, inWork, ackBytes, code, smallText: textOf(0) };
}

const first = ['0', 'references of 0'];

describe('the room of a walk', () => {
  it('is not asked for what each message may keep, which is charged with the replies', async () => {
    const takeForAnswers = vi.fn(() => undefined);
    const walk = sync({ children: 2, bytes: 30_000 }, { takeForAnswers });
    expect(await walk.handled).toBe(true);
    expect(takeForAnswers).not.toHaveBeenCalled();
    const { event, held, reserved, inWork, ackBytes, smallText } = walk;
    const kept = smallText.length + 60_000;
    expect(kept).toBeLessThan(bytesBeforeRoom);
    const handedOver = [-smallText.length, -30_000, -30_000];
    expect(held).toEqual([inWork - reserved, bytesReceived(event) + ackBytes, kept, ...handedOver]);
  });

  it('is taken whole beyond that; what is not needed is given back after the walk, and the rest with each reply', async () => {
    const takeForAnswers = vi.fn(() => undefined);
    const before: number[] = [];
    const send = async () => {
      before.push(walk.held.length);
      return 'delivered' as const;
    };
    const walk = sync({ children: 3, bytes: 30_000, send }, { takeForAnswers });
    expect([await walk.handled, takeForAnswers.mock.calls]).toEqual([true, [[whole]]]);
    const { event, held, reserved, inWork, ackBytes } = walk;
    const { length } = walk.smallText;
    const answers = [bytesReceived(event) + ackBytes, length + 90_000];
    const handedOver = [-length, -30_000, -30_000, -30_000];
    expect(held).toEqual([inWork - reserved, -bytesBeforeRoom, ...answers, ...handedOver]);
    expect(before).toEqual([4, 5, 6, 7, 8]);
    expect([walk.calls, walk.code()]).toEqual([[...first, '1', '2', '3'], 'ok']);
  });

  it('is waited for with nothing kept and without a place in flight, and the walk begins again then; its time stands still', async () => {
    let take = (_: boolean) => {};
    const aside = vi.fn();
    const takeForAnswers = vi.fn(() => new Promise<boolean>((resolve) => (take = resolve)));
    const walk = sync({ children: 3, bytes: 30_000 }, { takeForAnswers, aside });
    await vi.waitUntil(() => aside.mock.calls.length > 0);
    expect(walk.held).toEqual([walk.inWork - walk.reserved, -bytesBeforeRoom]);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(walk.replies).toEqual([]);
    take(true);
    expect(await walk.handled).toBe(true);
    expect(walk.calls).toEqual([...first, '1', '2', '3', ...first, '1', '2', '3']);
    expect(takeForAnswers).toHaveBeenCalledTimes(1);
    expect(walk.replies.map(({ kind }) => kind)).toEqual([...Array(4).fill('notification'), 'acknowledgement']);
    expect(walk.code()).toBe('ok');
  });

  it('is told to operators while it is waited for', async () => {
    const seen: unknown[] = [];
    const walk = sync(
      { children: 3, bytes: 30_000 },
      {
        takeForAnswers: async () => true,
        aside: () => void seen.push([...(seen[0] as Set<object>)].map((step) => ({ ...step, since: 0 }))),
      },
      { begins: ({ open }) => seen.push(open) },
    );
    await walk.handled;
    const expected = { kind: 'call', what: 'read object model', of: 'information model', since: 0, waitsFor: 'room' };
    expect(seen.flat()).toContainEqual(expected);
    expect(seen[0]).toEqual(new Set());
  });

  it('is not waited for by a walk that has failed meanwhile', async () => {
    const takeForAnswers = () => new Promise<boolean>(() => {});
    const walk = sync({ children: 3, bytes: 60_000, forbidden: 1 }, { takeForAnswers });
    expect([await walk.handled, walk.code()]).toEqual([true, 'not_authorized']);
  });

  it('leaves the message to the next reader when the partition is lost meanwhile', async () => {
    const taken = new AbortController();
    const walk = sync(
      { children: 3, bytes: 30_000 },
      { aside: () => taken.abort(), takeForAnswers: async () => false },
      { ended: taken.signal },
    );
    expect([await walk.handled, walk.replies]).toEqual([false, []]);
  });

  it('has little of models that are too large for the hub', async () => {
    const walk = sync({ children: 2, bytes: 1_000_000, send: async () => ({ dropped: 'too_large' }) }, {});
    expect(await walk.handled).toBe(true);
    expect(walk.held[3]).toBe(walk.smallText.length + 2 * (maxReplyBytes + 1));
    expect(walk.code()).toBe('response_too_large');
  });
});
