import type { AxiosAdapter } from 'axios';
import type { Client } from 'azure-iothub';
import { expect, it, vi } from 'vitest';
import { TransportFailure } from '../../src/backends/transport.ts';
import { createPartition } from '../../src/engine/partition.ts';
import { createServiceConnection } from '../../src/hub/replies/replies.ts';
import { createLog } from '../../src/observing/log.ts';
import type { HubEvent } from '../../src/protocol/event.ts';
import { budgetOf, usual } from '../engine/support/partitions.ts';
import { settingsWith } from '../support/environment.ts';
import { hubEvent } from '../support/events.ts';
import { soon, withFakeTimers } from '../support/waiting.ts';
import { receivedMessageOf, wire } from '../support/wiring.ts';
import { v2 } from './support/messages.ts';
import { senderOver, untold } from './support/replying.ts';

// A handler that hangs would hold its partition for ever, for its ownership is renewed all the same (SDK trap 13). So
// whatever a message waits for may never come, and the message ends nevertheless, but for its dead letter (G4): the next one
// is handled, though there is room for one at a time only.

withFakeTimers();

const never = new Promise<never>(() => {});
const settings = settingsWith({
  BACKENDS_TOKEN_URL: 'http://login.example/token',
  BACKENDS_CLIENT_ID: 'id',
  BACKENDS_CLIENT_SECRET: 'secret',
});
const log = createLog('silent');

type Hanging = 'the backend' | 'the token endpoint' | 'the dead-letter store' | 'the connection' | 'the hub’s answer';

/** The first time that the service needs this, nothing comes of it, as long as one waits. */
function setUp(hanging: Hanging) {
  let isFirst = true;
  const hangs = (what: Hanging) => {
    const now = what === hanging && isFirst;
    if (now) isFirst = false;
    return now;
  };
  const adapter: AxiosAdapter = async (config) => {
    const isToken = config.url === '/token';
    if (hangs(isToken ? 'the token endpoint' : 'the backend')) {
      await new Promise((resolve) => setTimeout(resolve, config.timeout));
      throw new TransportFailure('no answer in time', true);
    }
    const answer = isToken ? { access_token: 'token' } : { data: [] };
    // Garbage is our side's failure: there is a dead letter to be written.
    const text = hanging === 'the dead-letter store' && !isToken ? 'garbage' : JSON.stringify(answer);
    return { status: 200, statusText: '', headers: {}, data: Buffer.from(text), config };
  };
  const newClient = () => {
    const opened = hangs('the connection') ? never : Promise.resolve();
    const client: Pick<Client, 'open' | 'close' | 'send'> = {
      open: () => opened as never,
      send: (async () => (hangs('the hub’s answer') ? never : { result: {} })) as never,
      close: async () => never,
    };
    return { ...client, setRetryPolicy() {}, on() {} } as unknown as Client;
  };
  const connection = createServiceConnection({ newClient, answerWithinMs: 10_000, log, troubles: untold });
  const sender = senderOver(connection.send, { maxInFlight: 1 });
  const handled: number[] = [];
  const { dispatch } = wire({
    settings: settings.backends,
    adapter,
    send: sender.send,
    deadLetters: { park: async () => (hangs('the dead-letter store') ? never : undefined), async remove() {} },
  });
  const partition = createPartition({
    ...usual,
    budget: budgetOf(1),
    receivedMessageOf: (event) => receivedMessageOf(event),
    async dispatch(receivedMessage, context) {
      const isHandled = await dispatch(receivedMessage, context);
      if (isHandled) handled.push(receivedMessage.event.sequenceNumber);
      return isHandled;
    },
  });
  return { partition, handled };
}

it.each(['the backend', 'the token endpoint', 'the connection', 'the hub’s answer'] as const)(
  'a message ends although %s never answers, and its device and its partition continue (trap 13)',
  async (hanging) => {
    const { partition, handled } = setUp(hanging);
    const update = v2('identity.update', { publicKey: 'key' }, { timeout: '2' });
    const messages = [0, 1].map((sequenceNumber) => hubEvent({ ...update, sequenceNumber }));
    void partition.admit(messages);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(handled).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(handled).toEqual([0, 1]);
    partition.revoke();
  },
);

it('a message whose dead letter is never written holds its device and the checkpoint, and no room that others need', async () => {
  const { partition, handled } = setUp('the dead-letter store');
  const update = v2('identity.update', { publicKey: 'key' });
  const [first, second] = [0, 1].map((sequenceNumber) => hubEvent({ ...update, sequenceNumber }));
  const others = [2, 3].map((sequenceNumber) => hubEvent({ ...update, body: '{', device: 'd2', sequenceNumber }));
  void partition.admit([first, second, ...others] as HubEvent[]);
  await vi.advanceTimersByTimeAsync(60_000);
  await vi.waitFor(() => expect(handled).toEqual([2, 3]), soon);
  expect(partition.contents().inFlight).toBe(1);
  const drained = partition.drain(25_000);
  await vi.advanceTimersByTimeAsync(30_000);
  expect([await drained, handled]).toEqual([2, [2, 3]]);
});
