import { afterEach, describe, expect, it } from 'vitest';
import { startTestEdge, type TestEdge, users } from './support/testEdge.ts';

// Hub or broker is offline or restarts (M13); each connection by itself is in hubConnection.test.ts and brokerConnection.test.ts.

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

  it('restarts during a call: the lost response is counted, and the proxy reconnects', async () => {
    edge = await startTestEdge();
    const press = await edge.module('press');
    const calling = edge.call().catch((error: Error) => error);
    const request = await press.next();
    await edge.hub.close();
    expect(await calling).toBeInstanceOf(Error);
    await waitingFor(/the hub/);
    request.reply(1);
    await expect.poll(() => edge.metrics()).toContain('\ndevice_messaging_edge_responses_lost_total 1\n');
    await press.close();
    await edge.startHub();
    await expectWorking();
  });
});
