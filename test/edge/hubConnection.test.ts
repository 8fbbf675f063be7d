import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { type Issued, issueCertificate } from 'iot-hub-emulator/testing';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectToHub } from '../../edge/src/hub/hubConnection.ts';
import { failure, type MethodResponse } from '../../edge/src/hub/invocation.ts';
import { createLog } from '../../edge/src/observing/log.ts';
import { createMeter } from '../../edge/src/observing/metrics.ts';
import { portForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { hubForAll } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { connectDevice } from '../../sandbox/device/device.ts';
import { authenticationBy } from './support/testEdge.ts';

// The connection of the proxy to a real hub (M6, M13).

type Options = Parameters<typeof connectToHub>[0];

let own: Issued;
let ca: string;
const hub = hubForAll({ devices: [{ deviceId: 'edge-1' }, { deviceId: 'edge-2' }] });
beforeAll(async () => {
  ca = await readFile(hub.caFile, 'utf8');
  own = await issueCertificate({ name: 'edge-2', role: 'client' });
  hub.registry.update('edge-2', { authentication: authenticationBy(own) });
  for (const deviceId of ['edge-1', 'edge-2']) hub.registry.create(deviceId, { moduleId: 'proxy' });
});

let connection: ReturnType<typeof connectToHub>;
let lines: Record<string, unknown>[];
let payloads: unknown[];
let meter: ReturnType<typeof createMeter>;
const given = { respond: async (): Promise<MethodResponse> => failure('no_module', 'no module'), isIdle: true };
beforeEach(() => {
  [lines, payloads] = [[], []];
  Object.assign(given, { respond: async () => failure('no_module', 'no module'), isIdle: true });
});
afterEach(() => connection.close());
const logged = (event: string) => lines.filter((line) => line['event'] === event);

function connect(change: Partial<Options> = {}): void {
  const connectionString = hub.deviceConnectionString('edge-1');
  meter = createMeter();
  connection = connectToHub({
    access: () => ({ connectionString, ca, webSockets: false }),
    async onInvocation(payload) {
      payloads.push(payload);
      return given.respond();
    },
    isIdle: () => given.isIdle,
    log: createLog('info', { write: (line) => void lines.push(JSON.parse(line)) }),
    ...{ meter, backoff: { initialMs: 20, maxMs: 100, stableAfterMs: 60_000 } },
    ...change,
  });
}

const invoke = async (clientId = 'edge-1', methodName = 'invokeMethod', payload: unknown = { a: 1 }) => {
  const call = { methodName, payload: payload as never, responseTimeoutMs: 5_000, connectTimeoutMs: 0 };
  const { status, payload: text } = await hub.methods.invoke(clientId, call);
  return [status, JSON.parse(text)];
};
const connected = (times = 1) => expect.poll(() => logged('hub.connected').length).toBe(times);

describe('the connection to the hub', () => {
  it.each<[string, string, [deviceId: string, moduleId?: string], 'key' | 'certificate', boolean]>([
    ['a device', 'edge-1', ['edge-1'], 'key', false],
    ['a module', 'edge-1/proxy', ['edge-1', 'proxy'], 'key', false],
    ['a device with a certificate', 'edge-2', ['edge-2'], 'certificate', false],
    ['a device over WebSockets', 'edge-1', ['edge-1'], 'key', true],
    ['a device with a certificate over WebSockets', 'edge-2', ['edge-2'], 'certificate', true],
  ])('takes invocations as %s, and refuses other methods', async (_, clientId, identity, means, webSockets) => {
    const connectionString = hub.deviceConnectionString(...identity);
    const signIn = means === 'key' ? {} : { certificate: own.cert, key: own.key };
    const intervals = vi.spyOn(globalThis, 'setInterval');
    const token = { valid: 77_777, renewWhenIdle: 70_000, renew: 72_000 };
    connect({ access: () => ({ connectionString, ca, webSockets, ...signIn }), token });
    await connected();
    const renewals = intervals.mock.calls.filter(([, ms]) => ms === token.valid);
    expect(renewals).toHaveLength(means === 'key' ? 1 : 0); // a certificate has no token
    given.respond = async () => ({ status: 200, payload: { status: 7, output: { b: 2 } } });
    expect(await invoke(clientId)).toEqual([200, { status: 7, output: { b: 2 } }]);
    given.respond = async () => failure('no_module', 'no module');
    expect(await invoke(clientId)).toEqual([404, { detail: 'no module', invoked: 'no' }]);
    expect(payloads).toEqual([{ a: 1 }, { a: 1 }]);
    for (const method of ['reboot', 'invokemethod'])
      expect(await invoke(clientId, method)).toEqual([
        404,
        { detail: 'the edge proxy has no other direct method than invokeMethod', invoked: 'no' },
      ]);
    expect(payloads).toHaveLength(2);
    expect(logged('hub.method_refused')).toMatchObject([{ method: 'reboot' }, { method: 'invokemethod' }]);
    expect(logged('hub.response_lost')).toEqual([]);
  });

  it('is opened again when the hub closes it, and counts a response that was lost', async () => {
    connect({ backoff: { initialMs: 500, maxMs: 500, stableAfterMs: 60_000 } });
    await connected();
    let respond = (_: MethodResponse) => {};
    given.respond = () => new Promise((resolve) => (respond = resolve));
    const invoked = invoke().catch(() => undefined);
    await expect.poll(() => payloads).toHaveLength(1);
    await hub.faults.strike({ kind: 'drop', deviceId: 'edge-1' });
    await expect.poll(() => logged('hub.waiting')).toHaveLength(1);
    respond({ status: 200, payload: { status: 1 } });
    await expect.poll(() => logged('hub.response_lost')).toMatchObject([{ reason: expect.any(String) }]);
    expect(meter.total('device_messaging.edge.responses.lost')).toBe(1);
    await connected(2);
    given.respond = async () => ({ status: 200, payload: { status: 2 } });
    expect(await invoke()).toEqual([200, { status: 2 }]);
    await invoked;
  });

  it('says why the hub refuses it', async () => {
    const connectionString = hub.deviceConnectionString('edge-1').replace(/SharedAccessKey=.*/, 'SharedAccessKey=a2V5');
    connect({ access: () => ({ connectionString, ca, webSockets: false }) });
    await expect.poll(() => connection.waitingFor()).toMatch(/^the hub: .*(Not authorized|refused)/i);
    expect(logged('hub.connected')).toEqual([]);
  });

  it('says that nobody listens there, and nothing of the key', async () => {
    const connectionString = 'HostName=127.0.0.1:1;DeviceId=d;SharedAccessKey=a2V5';
    connect({ access: () => ({ connectionString, webSockets: false }) });
    await expect.poll(() => connection.waitingFor()).toBe('the hub: connect ECONNREFUSED 127.0.0.1:1');
    const device = connectDevice({ id: 'd', connectionString });
    await expect(device).rejects.toThrow(/^Cannot connect to the hub: connect ECONNREFUSED 127\.0\.0\.1:1$/);
  });

  it('is not opened without the authority of the hub', async () => {
    const connectionString = hub.deviceConnectionString('edge-1');
    connect({ access: () => ({ connectionString, webSockets: false }) });
    await expect.poll(() => connection.waitingFor()).toMatch(/certificate|self.signed/i);
  });

  it('is not opened while the hub is silent', async () => {
    const { setTimeout } = globalThis;
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((run: () => void, ms?: number) =>
      setTimeout(run, ms === 20_000 || ms === 3_000 ? 20 : ms)) as typeof setTimeout);
    const host = `127.0.0.1:${await portForTest(createServer())}`;
    const connectionString = `HostName=${host};DeviceId=d;SharedAccessKey=a2V5`;
    connect({ access: () => ({ connectionString, webSockets: false }) });
    await expect.poll(() => connection.waitingFor()).toBe('the hub: no response within 20 s');
  });

  it('takes nothing when it is closed', async () => {
    connect();
    await connected();
    await connection.close();
    await expect(invoke()).rejects.toThrow();
    expect(payloads).toEqual([]);
  });

  it('shortens the name of another method in the log', async () => {
    connect();
    await connected();
    await invoke('edge-1', 'x'.repeat(300));
    expect(logged('hub.method_refused')).toMatchObject([{ level: 'warn', method: 'x'.repeat(256) }]);
  });

  it('is replaced before the token expires, while no invocation is in progress, and later in any case', async () => {
    given.isIdle = false;
    connect({ token: { valid: 1_000, renewWhenIdle: 2, renew: 3 } });
    await connected();
    const since = performance.now();
    await connected(2);
    expect(performance.now() - since).toBeGreaterThan(2_500);
    given.isIdle = true;
    await expect.poll(() => logged('hub.connected').length).toBeGreaterThan(3);
    expect(logged('hub.waiting')).toEqual([]);
    const [, second = 0, third = 0] = logged('hub.connected').map(({ time }) => Date.parse(String(time)));
    expect(third - second).toBeGreaterThan(1_500);
  });
});
