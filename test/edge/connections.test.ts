import { afterEach, describe, expect, it } from 'vitest';
import { connectToHub } from '../../edge/src/hub/hubConnection.ts';
import { failure } from '../../edge/src/hub/invocation.ts';
import { createLog } from '../../edge/src/observing/log.ts';
import { createMeter } from '../../edge/src/observing/metrics.ts';
import { startTestEdge, type TestEdge, users } from './support/testEdge.ts';

// Hub or broker is offline, refuses the proxy, or restarts (M13).

const other = 'ffffffff-7f2b-4f0e-8d57-3b8f2f6c9e11';
let edge: TestEdge;
afterEach(() => edge.close());

const logged = (text: string) => edge.lines.filter(({ msg, reason }) => `${msg} ${reason ?? ''}`.includes(text));
const waitingFor = (what: RegExp) => expect.poll(async () => (await edge.readyz()).waitingFor.join()).toMatch(what);
const expectWorking = async () => {
  await edge.ready();
  const press = await edge.module('press', (request) => request.reply(4));
  expect((await edge.call()).payload).toEqual({ status: 4 });
  await press.close();
};

describe('the broker', () => {
  it('is offline at the start: invocations get 503 until it is online', async () => {
    edge = await startTestEdge({ isBrokerDown: true });
    await waitingFor(/the broker: connect ECONNREFUSED/);
    await waitingFor(/^(?!.*the hub)/);
    expect(await edge.call()).toMatchObject({ status: 503, reason: 'unavailable_at_device' });
    await edge.startBroker();
    await expectWorking();
    expect(logged('connected to the broker')).toHaveLength(1);
  });

  it('restarts: meanwhile invocations get 503 and are not delivered later', async () => {
    edge = await startTestEdge();
    await expectWorking();
    await edge.stopBroker();
    await waitingFor(/the broker/);
    expect(await edge.call()).toMatchObject({ status: 503 });
    await edge.startBroker();
    const press = await edge.module('press', (request) => request.reply(5));
    await edge.ready();
    expect([(await edge.call()).payload, press.received.length]).toEqual([{ status: 5 }, 1]);
  });

  it('restarts during a call: the module can reply after the restart', async () => {
    edge = await startTestEdge();
    const press = await edge.module('press');
    const calling = edge.call();
    const { requestId } = await press.next();
    await edge.stopBroker();
    await waitingFor(/the broker/);
    await edge.startBroker();
    await edge.ready();
    const again = await edge.module('press');
    again.publish(`press/out/6/${requestId}`, '');
    expect((await calling).payload).toEqual({ status: 6 });
  });

  it('stores nothing for a module that is not subscribed: the call ends with 504 and is never delivered', async () => {
    edge = await startTestEdge();
    const press = await edge.module('press', undefined, false);
    expect(await edge.call({ timeout: 5 })).toMatchObject({ status: 504, reason: 'no_reply_at_device' });
    await press.client.subscribeAsync('press/in/#');
    const next = edge.call();
    const request = await press.next();
    request.reply(1);
    await next;
    expect(press.received).toEqual([request]);
  });

  it('refuses the credentials: the log has the reason once, and the proxy tries again', async () => {
    edge = await startTestEdge({ broker: { password: 'wrong' } });
    await waitingFor(/the broker: Connection refused/);
    await waitingFor(/^(?!.*the hub)/);
    expect(await edge.call()).toMatchObject({ status: 503 });
    expect(logged('Connection refused').length).toBe(1); // not one line for each attempt
  });

  it('refuses the subscription for one module: its calls get 503, others work', async () => {
    const proxy = { password: 'edge-proxy-secret', publish: ['press/in/#', 'bus/in/#'], subscribe: ['press/out/#'] };
    edge = await startTestEdge({ users: { ...users, 'edge-proxy': proxy } });
    await expectWorking();
    expect((await edge.call({ target: 'line', objectId: other })).status).toBe(503);
    expect(logged('the broker refuses the subscription')).toMatchObject([
      { level: 'error', module: 'bus' },
      { level: 'error', module: 'camera' },
    ]);
    await edge.rewrite({});
    await expect.poll(() => logged('the configuration was read again')).toHaveLength(1);
    expect(logged('the broker refuses the subscription')).toHaveLength(2); // not again for each attempt
  });

  it('does not allow to publish to a module and closes the connection: others work again', async () => {
    const rights = { publish: ['press/in/#'], subscribe: ['press/out/#', 'bus/out/#'] };
    const proxy = { password: 'edge-proxy-secret', ...rights };
    edge = await startTestEdge({ users: { ...users, 'edge-proxy': proxy } });
    await edge.ready();
    expect((await edge.call({ target: 'line', objectId: other, timeout: 5 })).status).toBe(504);
    await expectWorking();
  });
});

describe('the hub', () => {
  it('is offline at the start: the proxy connects when it is online', async () => {
    edge = await startTestEdge({ isHubDown: true });
    await waitingFor(/the hub: .*ECONNREFUSED/);
    await edge.startHub();
    await expectWorking();
  });

  it('restarts: the proxy reconnects', async () => {
    edge = await startTestEdge();
    await expectWorking();
    await edge.hub.close();
    await waitingFor(/the hub/);
    await edge.startHub();
    await expectWorking();
  });

  it('closes the connection during a call: the log reports the lost response, the next call works', async () => {
    edge = await startTestEdge();
    const press = await edge.module('press');
    const calling = edge.call().catch((error: Error) => error);
    const request = await press.next();
    await edge.hub.faults.strike({ kind: 'drop', deviceId: 'edge-1' });
    expect(await calling).toBeInstanceOf(Error);
    request.reply(1);
    await expect.poll(() => logged('a response did not reach the hub')).toHaveLength(1);
    expect(await edge.metrics()).toContain('\ndevice_messaging_edge_responses_lost_total 1\n');
    await press.close();
    await expectWorking();
  });

  it('refuses the key: the log has the reason', async () => {
    edge = await startTestEdge({ isHubDown: true });
    await edge.startHub();
    await edge.ready();
    edge.hub.registry.update('edge-1', { primaryKey: Buffer.alloc(32).toString('base64') });
    await edge.hub.faults.strike({ kind: 'drop', deviceId: 'edge-1' });
    await waitingFor(/the hub: .*(Not authorized|refused)/i);
  });

  it('knows the proxy as a module of the device', async () => {
    edge = await startTestEdge({ moduleId: 'proxy' });
    await expectWorking();
  });

  it('has two programs with the same identity: the log names the cause, and the proxy works again', async () => {
    edge = await startTestEdge();
    const { connectionString, ca = '' } = edge.configuration.hub;
    const other = connectToHub({
      access: () => ({ connectionString, ca, webSockets: false }),
      onInvocation: async () => failure('no_module', 'this is the other program'),
      isIdle: () => true,
      ...{ log: createLog('silent'), meter: createMeter() },
      backoff: { initialMs: 50, maxMs: 500, stableAfterMs: 60_000 },
    });
    try {
      await expect.poll(() => logged('does another program use the identity')).toHaveLength(1);
    } finally {
      await other.close();
    }
    await expectWorking();
  });
});
