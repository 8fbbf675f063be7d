import type { Client } from 'azure-iothub';
import { startHub } from 'iot-hub-emulator';
import { expect, it, vi } from 'vitest';
import { serviceClient } from '../../iot-hub-emulator/test/support/clients.ts';
import { createServiceConnection } from '../../src/hub/replies/serviceConnection.ts';
import { errors } from '../../src/hub/replies/serviceSdk.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createTroubles } from '../../src/log/troubles.ts';
import { recordingLog } from '../support/recordingLog.ts';
import { replyTo, silence, untold } from './support/replying.ts';

cureHubSdks();

it('a new connection is opened even if its timer fires a little early', async () => {
  let [now, opened] = [1_000, 0];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const client = (open: () => Promise<void>) => ({ setRetryPolicy() {}, on() {}, open, async close() {} });
  const refused = client(() => Promise.reject(new Error('refused')));
  const good = client(async () => {
    opened += 1;
  });
  let clients = 0;
  const reopening = createServiceConnection({
    newClient: () => {
      clients += 1;
      return (clients === 1 ? refused : good) as never;
    },
    answerWithinMs: 5_000,
    log: silence,
    troubles: untold,
  });
  try {
    await reopening.open();
    now = 2_999;
    await vi.advanceTimersByTimeAsync(2_000);
    expect([clients, opened]).toEqual([1, 0]);
    now = 3_000;
    await vi.advanceTimersByTimeAsync(1);
    expect([clients, opened, reopening.isOpen()]).toEqual([2, 1, true]);
  } finally {
    vi.restoreAllMocks();
    vi.useRealTimers();
    await reopening.close();
  }
});

it('a new connection is opened at once when the hub has closed an unused one, but not repeatedly', async () => {
  const hub = await startHub({ rules: { idle: { unusedConnection: 1_000 } } });
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const clients: Client[] = [];
  const connection = createServiceConnection({
    newClient() {
      const client = serviceClient(hub);
      clients.push(client);
      return client;
    },
    answerWithinMs: 20_000,
    log: silence,
    troubles: untold,
  });
  const closings = () => clients.length;
  try {
    await connection.open();
    now = 30_000;
    // time stands still for the connection: one that would wait two seconds would wait for ever
    await expect.poll(closings).toBe(2);
    await expect.poll(connection.isOpen).toBe(true);
    await expect.poll(connection.isOpen).toBe(false);
    // a connection that is opened at once has been opened when a later timer fires
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(closings()).toBe(2);
    now = 60_000;
    await expect.poll(closings).toBe(3);
  } finally {
    vi.restoreAllMocks();
    await connection.close();
    await hub.close();
  }
});

/** Clients that do what the test says. */
function clients() {
  /** Each one: what opens it, and what is called when its connection ends. */
  const made: { open: (error?: Error) => void; end: () => void }[] = [];
  /** What becomes of sends. */
  const outcomes: (Error | undefined)[] = [];
  const newClient = () => {
    const one = { open(_error?: Error) {}, end() {} };
    made.push(one);
    const opened = new Promise<void>((resolve, reject) => {
      one.open = (error) => (error ? reject(error) : resolve());
    });
    const on = (_: 'disconnect', end: () => void) => {
      one.end = end;
    };
    const send = async () => {
      const outcome = outcomes.shift();
      if (outcome) throw outcome;
      return { result: {} };
    };
    return { setRetryPolicy() {}, on, open: () => opened, send, async close() {} } as never;
  };
  return { made, outcomes, newClient };
}

const busy = new errors.ThrottlingError('busy');
const unknown = new errors.DeviceNotFoundError('unknown');

it.each<[what: string, outcomes: (Error | undefined)[], pauseMs: number]>([
  ['10 s when it has only said that it is busy', [busy, busy], 10_000],
  ['not at all when it has taken a reply', [undefined], 0],
  ['not at all when it has taken a reply before it was busy', [undefined, busy], 0],
  ['not at all when it has taken a reply after it was busy', [busy, undefined], 0],
  ['not at all when it has refused a reply for good', [unknown], 0],
])('after a lost connection the next one waits %s, and none is opened without a request', async (...row) => {
  const [, outcomes, pauseMs] = row;
  vi.useFakeTimers();
  const { made, newClient, ...scripted } = clients();
  scripted.outcomes.push(...outcomes);
  const connection = createServiceConnection({ newClient, answerWithinMs: 5_000, log: silence, troubles: untold });
  try {
    for (const _ of outcomes) {
      const sent = connection.send(replyTo('a'));
      made[0]?.open();
      await sent;
    }
    made[0]?.end();
    const unavailable = { kind: 'connection', reason: 'hub_unavailable' };
    if (pauseMs > 0) {
      await vi.advanceTimersByTimeAsync(pauseMs - 1);
      expect(await connection.send(replyTo('a'))).toEqual(unavailable);
      await vi.advanceTimersByTimeAsync(60_000);
    }
    expect(made).toHaveLength(1);
    const sent = connection.send(replyTo('a'));
    made[1]?.open();
    expect(await sent).toBeUndefined();
    expect(made).toHaveLength(2);
  } finally {
    await connection.close();
    vi.useRealTimers();
  }
});

it('no connection is opened after the close', async () => {
  vi.useFakeTimers();
  const { made, newClient } = clients();
  const connection = createServiceConnection({ newClient, answerWithinMs: 5_000, log: silence, troubles: untold });
  try {
    const opening = connection.open();
    made[0]?.open();
    await opening;
    await connection.send(replyTo('a'));
    made[0]?.end();
    await connection.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([made.length, vi.getTimerCount()]).toEqual([1, 0]);
  } finally {
    vi.useRealTimers();
  }
});

it('the end of an outage is reported once, and not without an outage', async () => {
  vi.useFakeTimers();
  const log = { ...recordingLog(), debug() {} };
  const troubles = createTroubles(log);
  const { made, newClient } = clients();
  const connection = createServiceConnection({
    newClient,
    answerWithinMs: 5_000,
    log: log as never,
    troubles,
  });
  try {
    const opening = connection.open();
    made[0]?.open(new Error('refused'));
    await opening;
    await vi.advanceTimersByTimeAsync(2_000);
    made[1]?.end(); // lost before it stood
    made[1]?.open();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(log.lines.map(({ message }) => message)).toEqual([
      'cannot connect to the hub’s service endpoint; replies wait',
    ]);
    const sent = ['a', 'b'].map((device) => connection.send(replyTo(device)));
    made[2]?.open();
    expect(await Promise.all(sent)).toEqual([undefined, undefined]);
    made[2]?.end();
    await vi.advanceTimersByTimeAsync(2_000);
    made[3]?.open();
    await vi.advanceTimersByTimeAsync(0);
    expect(log.lines.slice(1).map(({ message }) => message)).toEqual([
      'connected to the hub’s service endpoint',
      'the hub’s service endpoint is reached again',
    ]);
  } finally {
    await connection.close();
    troubles.close();
    vi.useRealTimers();
  }
});
