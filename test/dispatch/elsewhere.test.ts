import { describe, expect, it, vi } from 'vitest';
import type { ReplyObserver } from '../../src/hub/replies/sender.ts';
import type { Reply } from '../../src/protocol/reply.ts';
import type { Delivery } from '../../src/protocol/vocabulary.ts';
import { dispatchEvent } from '../support/dispatching.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { forever } from '../support/wiring.ts';
import { noConfiguration, pump, pumpId } from '../support/world.ts';
import { event, success } from './support/creation.ts';

withFakeTimers();

/** The configuration of the new pump is of interest to this device (A11). */
const configuration = (of: string) =>
  ({ ...noConfiguration(pumpId), reply: [200, pump({ model: 'svc.configuration', path: of })] }) as const;

/** Creates a pump whose configuration goes to a device; each reply is settled by hand. */
function create(subscriber: string) {
  const steps: string[] = [];
  const open = new Map<string, { observer: ReplyObserver; settle(delivery: Delivery): void }>();
  const named = ({ kind, deviceId }: Reply) => `${kind} to ${deviceId}`;
  let giveUp = () => {};
  const dispatched = dispatchEvent(event, [...success.slice(0, -1), configuration(subscriber)], {
    deliver: (reply, observer) =>
      new Promise((settle) => {
        steps.push(named(reply));
        if (observer) open.set(named(reply), { observer, settle });
      }),
    context: {
      nextMayBegin: () => void steps.push('next may begin'),
      charge: {
        ...forever.charge,
        sleeps(given) {
          steps.push('sleeps');
          giveUp = given;
        },
        wakes: () => void steps.push('wakes'),
        aside(left) {
          if (left === undefined) steps.push('takes a place again');
        },
      },
    },
  });
  void dispatched.then(({ handled }) => steps.push(handled ? 'handled' : 'left'));
  const then = () => vi.advanceTimersByTimeAsync(0);

  return {
    dispatched,
    async steps() {
      await then();
      return steps.splice(0);
    },
    settle: (name: string, delivery: Delivery = 'delivered') => open.get(name)?.settle(delivery),
    observer: (name: string) => open.get(name)?.observer as ReplyObserver,
    giveUp: () => giveUp(),
  };
}

const own = 'acknowledgement to d1';
const other = 'notification to d2';

describe('a notification for another device (A12)', () => {
  it('goes before the acknowledgement, which does not wait for it, and ends the message', async () => {
    const { dispatched, steps, settle } = create('d2');
    expect(await steps()).toEqual([other, own]);
    settle(own);
    expect(await steps()).toEqual(['next may begin']);
    settle(other);
    expect(await steps()).toEqual(['handled']);
    expect((await dispatched).logged.at(-1)).toMatchObject({ msg: 'handled', code: 'ok' });
  });

  it('that is dropped changes nothing for the sender', async () => {
    const { dispatched, steps, settle } = create('d2');
    await steps();
    settle(other, { dropped: 'queue_full' });
    settle(own);
    expect(await steps()).toContain('handled');
    const { replies, logged } = await dispatched;
    expect(JSON.parse(replies[1]?.body ?? '')).toMatchObject({ success: true });
    const dropped = [{ kind: 'notification', device: 'd2', reason: 'queue_full' }];
    expect(logged.at(-1)).toMatchObject({ msg: 'handled', level: 'warn', code: 'ok', dropped });
  });

  it.each([
    ['before', [own, other]],
    ['after', [other, own]],
  ])('that is stopped leaves the message to the next reader, %s the acknowledgement is settled', async (_, order) => {
    const { dispatched, steps, settle } = create('d2');
    await steps();
    for (const name of order) {
      settle(name, name === other ? 'stopped' : 'delivered');
      await steps();
    }
    expect(await dispatched).toMatchObject({ handled: false, logged: [] });
  });

  it('is settled before a message is left whose acknowledgement was stopped', async () => {
    const { dispatched, steps, settle } = create('d2');
    await steps();
    settle(own, 'stopped');
    expect(await steps()).toEqual([]);
    settle(other, 'stopped');
    expect(await dispatched).toMatchObject({ handled: false, logged: [] });
  });

  it('is held by nothing when it is for the device itself: the acknowledgement follows it', async () => {
    const { steps, settle } = create('d1');
    expect(await steps()).toEqual(['notification to d1']);
    settle('notification to d1');
    expect(await steps()).toEqual([own]);
    settle(own);
    expect(await steps()).toEqual(['handled']);
  });
});

describe('a message sleeps', () => {
  it('while its only reply waits for the full queue of its device, and takes a place again', async () => {
    const { steps, settle, observer } = create('d1');
    await steps();
    observer('notification to d1').sleeps(() => {});
    observer('notification to d1').waits('hub');
    observer('notification to d1').sleeps(() => {});
    expect(await steps()).toEqual(['sleeps', 'wakes', 'sleeps']);
    settle('notification to d1');
    expect(await steps()).toEqual(['wakes', 'takes a place again', own]);
  });

  it('while all replies that are left wait for full queues', async () => {
    const { steps, settle, observer } = create('d2');
    await steps();
    observer(other).sleeps(() => {});
    expect(await steps()).toEqual([]);
    observer(own).sleeps(() => {});
    expect(await steps()).toEqual(['sleeps']);
    observer(own).waits('hub');
    expect(await steps()).toEqual(['wakes']);
    settle(own);
    expect(await steps()).toEqual(['takes a place again', 'next may begin', 'sleeps']);
    settle(other);
    expect(await steps()).toEqual(['wakes', 'takes a place again', 'handled']);
  });

  it('until it is given up: then all its replies that sleep are', async () => {
    const { steps, observer, giveUp } = create('d2');
    const givenUp: string[] = [];
    await steps();
    for (const name of [other, own]) observer(name).sleeps(() => givenUp.push(name));
    giveUp();
    expect(givenUp).toEqual([other, own]);
  });
});
