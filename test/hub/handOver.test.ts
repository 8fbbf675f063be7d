import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createHandOver } from '../../src/hub/replies/handOver.ts';
import { replyTo } from './support/replying.ts';

// How replies get to the link of the service client, which is attached and has room until the test says otherwise (D147, D148).

function setUp() {
  const done: string[] = [];
  class Connection {
    output() {
      done.push('written');
    }
  }
  const unsettled: Record<number, { callback(error: null, result: object): void }> = {};
  let hasRoom = true;
  let sends = 0;
  const sender = {
    connection: new Connection(),
    sendable: () => hasRoom,
    dispatch: () => true,
    send(bytes: Buffer) {
      const id = sends;
      sends += 1;
      done.push(`link: ${bytes.toString().at(-1)}`);
      setImmediate(() => unsettled[id]?.callback(null, {}));
      return { id };
    },
  };
  const link = {
    ...{ _fsm: { state: 'attached' }, _rheaSender: sender },
    ...{ _unsentMessageQueue: [], _pendingMessageDictionary: unsettled },
  };
  const send = async (_: string, { data }: { readonly data: string }) => {
    done.push(`client: ${data}`);
    return { result: {} };
  };
  const client = { _transport: { _fsm: { state: 'authenticated' }, _c2dLink: link }, send };
  const handOver = createHandOver(client as never);
  return {
    done,
    hand: (body: string) => handOver(replyTo('a', body)),
    fill() {
      hasRoom = false;
    },
  };
}
const nextTick = () => new Promise<void>((resolve) => process.nextTick(resolve));

it('replies of one turn of the event loop are written together', async () => {
  const { done, hand } = setUp();
  const handed: Promise<boolean>[] = [];
  for (const body of ['1', '2', '3']) {
    handed.push(hand(body));
    await nextTick();
  }
  await turn();
  handed.push(hand('4'));
  expect(await Promise.all(handed)).toEqual([true, true, true, true]);
  expect(done).toEqual(['link: 1', 'link: 2', 'link: 3', 'written', 'link: 4', 'written']);
});

it('a reply does not pass those of its turn when the link has no room for them any more', async () => {
  const { done, hand, fill } = setUp();
  const first = hand('1');
  fill();
  expect(await Promise.all([first, hand('2')])).toEqual([true, true]);
  expect(done).toEqual(['client: 1', 'client: 2']);
});
