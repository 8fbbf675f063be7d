import { afterEach, describe, expect, it, vi } from 'vitest';
import { connectToHub } from '../../edge/src/connections/hub.ts';
import { createLog } from '../../edge/src/log.ts';
import { type Site, startSite, users } from './support/site.ts';

// Hub and broker as they are away, refuse, or come back (M13).

let site: Site;
afterEach(() => site.close());

const said = (text: string) => site.lines.filter(({ msg, reason }) => `${msg} ${reason ?? ''}`.includes(text));
const waitingFor = (what: RegExp) =>
  vi.waitFor(async () => expect((await site.readyz()).waitingFor.join()).toMatch(what), { timeout: 20_000 });
const expectThatItWorks = async () => {
  await site.ready();
  const press = await site.module('press', (request) => request.reply(4));
  expect((await site.call()).payload).toEqual({ status: 4 });
  await press.close();
};

describe('the broker', () => {
  it('is not there at the start: invocations get 503 until it is', async () => {
    site = await startSite({ isBrokerDown: true });
    await waitingFor(/the broker: connect ECONNREFUSED/);
    await waitingFor(/^(?!.*the hub)/);
    expect(await site.call()).toMatchObject({ status: 503, reason: 'unavailable_at_device' });
    await site.startBroker();
    await expectThatItWorks();
    expect(said('connected to the broker')).toHaveLength(1);
  });

  it('restarts: meanwhile invocations get 503, and nothing is delivered afterwards', async () => {
    site = await startSite();
    await expectThatItWorks();
    await site.stopBroker();
    await waitingFor(/the broker/);
    expect(await site.call()).toMatchObject({ status: 503 });
    await site.startBroker();
    const press = await site.module('press', (request) => request.reply(5));
    await site.ready();
    expect((await site.call()).payload).toEqual({ status: 5 });
    expect(press.received).toHaveLength(1);
  });

  it('restarts during a call: a module that comes back can still reply', async () => {
    site = await startSite();
    const press = await site.module('press');
    const calling = site.call();
    const { requestId } = await press.next();
    await site.stopBroker();
    await waitingFor(/the broker/);
    await site.startBroker();
    await site.ready();
    const again = await site.module('press');
    again.publish(`press/out/6/${requestId}`, '');
    expect((await calling).payload).toEqual({ status: 6 });
  });

  it('keeps nothing for a module that is not subscribed: the call ends with 504, and is never delivered', async () => {
    site = await startSite();
    const press = await site.module('press', undefined, false);
    expect(await site.call({ timeout: 5 })).toMatchObject({ status: 504, reason: 'no_reply_at_device' });
    await press.client.subscribeAsync('press/in/#');
    const next = site.call();
    const request = await press.next();
    request.reply(1);
    await next;
    expect(press.received).toEqual([request]);
  });

  it('refuses our credentials: it is said why, and tried again', async () => {
    site = await startSite({ broker: { password: 'wrong' } });
    await waitingFor(/the broker: Connection refused/);
    expect(await site.call()).toMatchObject({ status: 503 });
    expect(said('Connection refused').length).toBe(1); // not one line for each attempt
  });

  it('refuses our subscription to one module: that one gets 503, the others work', async () => {
    const proxy = { password: 'edge-proxy-secret', publish: ['press/in/#', 'bus/in/#'], subscribe: ['press/out/#'] };
    site = await startSite({ users: { ...users, 'edge-proxy': proxy } });
    await expectThatItWorks();
    expect(await site.call({ target: 'line', objectId: 'ffffffff-7f2b-4f0e-8d57-3b8f2f6c9e11' })).toMatchObject({
      status: 503,
    });
    expect(said('the broker refuses the subscription')).toMatchObject([{ level: 'error', module: 'bus' }]);
  });

  it('does not let us publish to a module: it ends the connection, others are served again', async () => {
    const proxy = {
      ...users['edge-proxy'],
      password: 'edge-proxy-secret',
      publish: ['press/in/#'],
      subscribe: ['press/out/#', 'bus/out/#'],
    };
    site = await startSite({ users: { ...users, 'edge-proxy': proxy } });
    await site.ready();
    const refused = await site.call({ target: 'line', objectId: 'ffffffff-7f2b-4f0e-8d57-3b8f2f6c9e11', timeout: 5 });
    expect(refused.status).toBe(504);
    await expectThatItWorks();
  });
});

describe('the hub', () => {
  it('is not there at the start: it is connected to when it comes', async () => {
    site = await startSite({ isHubDown: true });
    await waitingFor(/the hub: .*ECONNREFUSED/);
    await site.startHub();
    await expectThatItWorks();
  });

  it('restarts: the proxy comes back by itself', async () => {
    site = await startSite();
    await expectThatItWorks();
    await site.hub.close();
    await waitingFor(/the hub/);
    await site.startHub();
    await expectThatItWorks();
  });

  it('breaks the connection during a call: the answer is lost and said so, the next call works', async () => {
    site = await startSite();
    const press = await site.module('press');
    const calling = site.call().catch((error: Error) => error);
    const request = await press.next();
    await site.hub.faults.strike({ kind: 'drop', deviceId: 'edge-1' });
    expect(await calling).toBeInstanceOf(Error);
    request.reply(1);
    await vi.waitFor(() => expect(said('an answer did not reach the hub')).toHaveLength(1), { timeout: 10_000 });
    await press.close();
    await expectThatItWorks();
  });

  it('refuses our key: it is said why', async () => {
    site = await startSite({ isHubDown: true });
    await site.startHub();
    await site.ready();
    site.hub.registry.update('edge-1', { primaryKey: Buffer.alloc(32).toString('base64') });
    await site.hub.faults.strike({ kind: 'drop', deviceId: 'edge-1' });
    await waitingFor(/the hub: .*(Not authorized|refused)/i);
  });

  it('knows the proxy as a module of the device', async () => {
    site = await startSite({ moduleId: 'proxy' });
    await expectThatItWorks();
  });

  it('has two programs with this identity: nothing hangs, and the log names the cause', async () => {
    site = await startSite();
    const { connectionString, ca = '' } = site.configuration.hub;
    const other = connectToHub({
      ...{ connectionString, ca },
      invoked: async () => ({ status: 404, payload: { detail: 'this is the other program' } }),
      isIdle: () => true,
      log: createLog('silent'),
      pauses: { firstMs: 50, longestMs: 500, longLifeMs: 60_000 },
    });
    try {
      await vi.waitFor(() => expect(said('does another program use the identity')).toHaveLength(1), {
        timeout: 60_000,
      });
    } finally {
      await other.close();
    }
    await expectThatItWorks();
  });

  it('gets a new connection before its token is out of date, in a moment without work', async () => {
    site = await startSite();
    const { connectionString, ca = '' } = site.configuration.hub;
    site.hub.registry.create('edge-2', {});
    let isIdle = false;
    const lines: string[] = [];
    const renewed = () => lines.filter((line) => line.includes('connected to the hub')).length;
    const lives = connectToHub({
      connectionString: connectionString
        .replace('edge-1', 'edge-2')
        .replace(/SharedAccessKey=.*/, `SharedAccessKey=${site.hub.registry.get('edge-2')?.primaryKey}`),
      ...{ ca, invoked: async () => ({ status: 404, payload: { detail: 'nobody is here' } }), isIdle: () => isIdle },
      log: createLog('info', { write: (line) => void lines.push(line) }),
      token: { valid: 1_000, renewWhenIdle: 0.1, renew: 3 },
    });
    try {
      await vi.waitFor(() => expect(renewed()).toBe(1), { timeout: 10_000 });
      const busySince = performance.now();
      await vi.waitFor(() => expect(renewed()).toBe(2), { timeout: 20_000 });
      expect(performance.now() - busySince).toBeGreaterThan(2_500);
      isIdle = true;
      await vi.waitFor(() => expect(renewed()).toBeGreaterThan(3), { timeout: 10_000 });
    } finally {
      await lives.close();
    }
  });
});
