import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { hubForEach } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import { spawn } from '../../sandbox/service/endWithUs.ts';
import { plainService, send, transportOf } from './support/plain.ts';

// Each trap is reproduced against the plain azure-iothub: a new version of it that behaves otherwise fails here.

const program = fileURLToPath(new URL('./support/sendAndWait.ts', import.meta.url));

const rules = { devicebound: { pending: 10_000 } };
const hub = hubForEach({ devices: [{ deviceId: 'pump-1' }], rules });

const received = () => hub.journal.list({ deviceId: 'pump-1', kind: 'c2d' });
const receivedBodies = () => received().map((entry) => ('body' in entry ? entry.body.toString() : ''));

/** Start the program. */
const start = () => {
  const args = ['scripts/run.js', program, hub.serviceConnectionString, 'pump-1'];
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: hub.caFile, DEBUG: 'azure-iot-amqp-base:Amqp:Errors' };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  return child;
};
/** Run it to its end. */
const run = async (): Promise<{ code: number; out: string; error: string }> => {
  const child = start();
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, out: out.trim(), error };
};

describe('trap 1: a connection that ends with a send unsettled', () => {
  test.each(['fin', 'rst'] as const)('crashes the process when it ends by %s', async (answer) => {
    hub.faults.add({ kind: 'settle', link: 'c2d', skip: 1, times: 1, answer });
    const { code, out, error } = await run();
    expect(error).toContain('RangeError: Maximum call stack size exceeded');
    expect(error).toContain('getErrorName');
    expect({ code, out }).toEqual({ code: 1, out: 'sent' });
  });
  // Stuck, when the connection ends before the hub's answer to the end of the session has arrived; else the clean-up is
  // tried again 45 s later, and crashes.
  test('blocks the client for good, or crashes it later, when the link is detached without a condition', async () => {
    hub.faults.add({ kind: 'settle', link: 'c2d', skip: 1, times: 1, answer: 'detach' });
    const child = start();
    let [out, error] = ['', ''];
    child.stdout.on('data', (chunk) => (out += chunk));
    child.stderr.on('data', (chunk) => (error += chunk));
    await expect.poll(() => error).toContain('RangeError: Maximum call stack size exceeded');
    await new Promise((resolve) => setTimeout(resolve, 1000)); // it would have tried again after 0.1 s
    expect(hub.counters().connections.service).toBe(0);
    expect(out).toBe('sent\n');
    expect([null, 1]).toContain(child.exitCode);
    child.kill('SIGKILL');
  });
  test('does neither when the link is detached with a condition', async () => {
    const condition = 'amqp:link:detach-forced';
    hub.faults.add({ kind: 'settle', link: 'c2d', skip: 1, times: 1, answer: 'detach', condition });
    const { code, out, error } = await run();
    expect(error).not.toContain('RangeError');
    expect(code).toBe(0);
    expect(out).toMatch(/^sent\n\w+/);
  });
});

describe('trap 3: send() reports too much or nothing:', () => {
  test.each(['release', 'modify'] as const)('it resolves without a result when the hub answers %s', async (answer) => {
    hub.faults.add({ kind: 'settle', answer });
    const client = plainService(hub);
    await client.open();
    const { result } = await send(client, 'pump-1', 'lost');
    expect(result).toBeUndefined();
    expect(received()).toEqual([]);
    await client.close();
  });
  test('one lost disposition stops the link after 2,047 further sends', async () => {
    hub.faults.add({ kind: 'settle', answer: 'never', times: 1 });
    const client = plainService(hub);
    await client.open();
    void send(client, 'pump-1', 'never settled').catch(() => undefined); // when the hub ends
    await expect.poll(() => received().length).toBe(1);
    for (let sent = 0; sent < 2047; sent += 89)
      await Promise.all(Array.from({ length: 89 }, () => send(client, 'pump-1', 'x')));
    let over = false;
    const last = send(client, 'pump-1', 'stuck').finally(() => {
      over = true;
    });
    void last.catch(() => undefined);
    const other = plainService(hub);
    await other.open();
    await send(other, 'pump-1', 'of another client');
    expect(over).toBe(false);
    expect(receivedBodies()).not.toContain('stuck');
    expect(received()).toHaveLength(2049);
    await other.close();
  });
});

test('trap 4: as many links are attached as first sends are made at once', async () => {
  const client = plainService(hub);
  await client.open();
  const held = hub.faults.add({ kind: 'settle', answer: 'hold' });
  const sends = Array.from({ length: 20 }, (_, i) => send(client, 'pump-1', String(i)));
  await expect.poll(() => received().length).toBe(20);
  expect(hub.counters().links - 2).toBe(20); // besides the two of $cbs
  hub.faults.clear(held);
  await Promise.all(sends);
  await client.close();
});

describe('trap 5: open() retries silently', () => {
  test('when the certificate of the hub is not trusted', async () => {
    const client = plainService(hub, false);
    let over = false;
    void client.open().finally(() => {
      over = true;
    });
    const attempts = hub.faults.add({ kind: 'refuse-connection', answer: 'reset', port: 'amqps' });
    await expect.poll(() => hub.faults.list().find(({ id }) => id === attempts)?.struck).toBeGreaterThan(2);
    expect(over).toBe(false);
    stopTrying(client);
  });
});

test('trap 6: a message that the hub refuses for the moment is sent again after later ones', async () => {
  hub.faults.add({ kind: 'settle', answer: 'reject', condition: 'amqp:internal-error', skip: 1, times: 1 });
  const client = plainService(hub);
  await client.open();
  await send(client, 'pump-1', 'first');
  await Promise.all(['second', 'third'].map((body) => send(client, 'pump-1', body)));
  expect(receivedBodies()).toEqual(['first', 'third', 'second']);
  await client.close();
});

test('a link that the hub has not answered fails in a timer 45 s after a close that loses the connection', async () => {
  const client = plainService(hub);
  stopTrying(client);
  await client.open();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  void send(client, 'pump-1', 'x').catch(() => undefined);
  void client.close().catch(() => undefined);
  await hub.faults.strike({ kind: 'drop', connections: 'service' });
  await expect(vi.advanceTimersByTimeAsync(45_000)).rejects.toThrow(TypeError);
});

test('trap 7: one refused token ends renewal for good, without an error', async () => {
  const client = plainService(hub);
  Reflect.set(transportOf(client), '_renewalNumberOfMilliseconds', 100); // 45 minutes as it comes
  const disconnected: unknown[] = [];
  client.on('disconnect', (error) => disconnected.push(error));
  await client.open();
  await send(client, 'pump-1', 'x');
  const id = hub.faults.add({ kind: 'refuse-token', answer: 'refuse', connections: 'service' });
  const asked = () => hub.faults.list().find((fault) => fault.id === id)?.struck;
  await expect.poll(asked).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 1000)); // ten times the pause between two renewals
  expect(asked()).toBe(1);
  expect(disconnected).toEqual([]);
  await client.close();
});

/** Have a client try nothing again: so one ends that has never connected, which its own `close` cannot. */
function stopTrying(client: ReturnType<typeof plainService>): void {
  client.setRetryPolicy({ shouldRetry: () => false, nextRetryTimeout: () => -1 });
}
