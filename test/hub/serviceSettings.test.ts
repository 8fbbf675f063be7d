import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { accessOf } from '../../src/access/access.ts';
import { createLog, currentTroubles } from '../../src/observing/log.ts';
import { createHandling } from '../../src/programs/handling.ts';
import { startService } from '../../src/programs/service.ts';
import { serve } from '../backends/harness.ts';
import { settings } from '../support/environment.ts';
import { hubEvent } from '../support/events.ts';
import { neverCrashing } from '../support/processLife.ts';
import { rotatingSecret } from '../support/secretVolume.ts';
import { signal } from '../support/waiting.ts';
import { createFakeHub } from './support/fakeHub.ts';
import { v2 } from './support/messages.ts';
import { standIns } from './support/standIns.ts';

// What only the wiring of the service reads, in the unit that its name says.

vi.mock('@azure/event-hubs', async (sdk) => (await import('./support/standIns.ts')).withStandIns(await sdk<object>()));

const looked = vi.hoisted(() => vi.fn());
vi.mock('../../src/hub/reading/consumer.ts', async (real) => {
  const { createConsumer } = await real<typeof import('../../src/hub/reading/consumer.ts')>();
  const observed = (options: never) => ({ ...createConsumer(options), lookForContact: looked });
  return { createConsumer: observed };
});

const soon = { timeout: 120_000, interval: 5 };

/** A backend that answers nothing. */
async function silentBackend() {
  const { given: isAsked, give: asked } = signal();
  return { url: await serve(() => asked()), isAsked };
}

const directory = folderForEach('settings');

/** The service with a hub in memory. */
async function start(changed: Partial<typeof settings>) {
  const hub = createFakeHub(['0']);
  standIns.set(settings.hub.eventsConnectionString, () => hub.client(neverCrashing()));
  const handled: number[] = [];
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', {
    write(text) {
      const line = JSON.parse(text);
      lines.push(line);
      if (line.msg === 'handled') handled.push(performance.now());
    },
  });
  const nobody = 'HostName=localhost:1;SharedAccessKeyName=n;SharedAccessKey=a2V5';
  const service = await startService(
    {
      ...{ ...settings, ...changed, data: { directory }, http: { host: '127.0.0.1', port: 0 } },
      hub: { ...settings.hub, serviceConnectionString: nobody },
    },
    log,
  );
  const checkpoint = (): unknown => {
    const folder = join(directory, 'checkpoints');
    const [file] = readdirSync(folder).filter((name) => name.endsWith('.json'));
    return file && JSON.parse(readFileSync(join(folder, file), 'utf8')).progress[0]?.progress.sequenceNumber;
  };
  return { hub, service, handled, lines, log, checkpoint };
}

/** A backend that answers the first call when it is told to, and all others at once. */
async function backendByHand() {
  const { given: isAsked, give: asked } = signal();
  const { given: isTold, give: answer } = signal();
  const methods: (string | undefined)[] = [];
  const sockets = new Set<object>();
  const url = await serve(async (request, response) => {
    sockets.add(request.socket);
    request.socket.once('close', () => sockets.delete(request.socket));
    methods.push(request.method);
    asked();
    await isTold;
    const found = { data: [{ id: 'p', identity: '', path: '', parentId: '' }] };
    response.writeHead(request.method === 'GET' ? 200 : 204, { 'content-type': 'application/json' });
    response.end(request.method === 'GET' ? JSON.stringify(found) : undefined);
  });
  return { url, isAsked, answer, connections: () => sockets.size, methods };
}

it('A stop ends a message in progress before it closes what the message needs, and leaves no port or trouble open', async () => {
  const backend = await backendByHand();
  const { hub, service, lines, log, checkpoint } = await start({
    backends: { ...settings.backends, principalManagerUrl: backend.url },
  });
  hub.append('0', hubEvent({ ...v2('identity.update', { publicKey: 'k' }, { ack: 'none' }), sequenceNumber: 0 }));
  await backend.isAsked;
  const ports = lines.flatMap(({ port, adminPort }) => port ?? adminPort ?? []);
  expect(ports).toHaveLength(2);
  for (const port of ports) expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBeLessThan(500);
  const metrics = await fetch(`http://127.0.0.1:${ports[0]}/metrics`);
  expect(await metrics.text()).toMatch(/^device_messaging_held_messages\{[^}]*"work"[^}]*\} 1$/m);
  await vi.waitFor(() => expect(currentTroubles(log)).not.toEqual([]), soon); // nobody takes replies
  const stopping = service.stop();
  await new Promise(setImmediate);
  backend.answer();
  await stopping;
  expect(lines.filter(({ msg }) => msg === 'handled')).toMatchObject([{ code: 'ok' }]);
  expect(looked).toHaveBeenCalled(); // before each effect
  expect([checkpoint(), lines.at(-1)?.['msg'], currentTroubles(log)]).toEqual([0, 'stopped', []]);
  await expect.poll(backend.connections, { timeout: 2_000 }).toBe(0); // the backend keeps them for 5 s
  for (const port of ports) await expect(fetch(`http://127.0.0.1:${port}/livez`)).rejects.toThrow('fetch failed');
});

it('A standstill is noticed before the next call of a message, which makes no more', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const backend = await backendByHand();
  const { hub, service, lines } = await start({ backends: { ...settings.backends, principalManagerUrl: backend.url } });
  hub.append('0', hubEvent({ ...v2('identity.update', { publicKey: 'k' }, { ack: 'none' }), sequenceNumber: 0 }));
  await backend.isAsked;
  vi.advanceTimersByTime(60_000);
  backend.answer();
  await vi.waitFor(() => expect(lines.map(({ event }) => event)).toContain('partitions.stood_still'), soon);
  await service.stop();
  expect(backend.methods).toEqual(['GET']);
});

it('A checkpoint is written five seconds after the last message', async () => {
  const { hub, service, handled, checkpoint } = await start({});
  hub.append('0', hubEvent({ ...v2('model.update', '{', { ack: 'none' }), sequenceNumber: 0 }));
  await vi.waitFor(() => expect(handled).toHaveLength(1), soon);
  await vi.waitFor(() => expect(checkpoint()).toBe(0), soon);
  expect(performance.now() - (handled[0] ?? 0)).toBeGreaterThan(4_950);
  await service.stop();
});

it('A stop waits DELIVERY_DRAIN_SECONDS for a message that does not end', async () => {
  const backend = await silentBackend();
  const { hub, service, handled } = await start({
    backends: { ...settings.backends, principalManagerUrl: backend.url },
    delivery: { ...settings.delivery, drainSeconds: 2 }, // then it has a second to leave
  });
  hub.append('0', hubEvent({ ...v2('identity.update', {}), sequenceNumber: 0 }));
  await backend.isAsked;
  const began = performance.now();
  await service.stop();
  expect(performance.now() - began).toBeGreaterThan(1_950);
  expect(handled).toEqual([]);
});

it('Replies are sent over a new connection as soon as the key is replaced, without a refusal', async () => {
  const { secret, change } = rotatingSecret('HostName=localhost:1;SharedAccessKeyName=n;SharedAccessKey=a2V5');
  const reads = vi.spyOn(secret, 'current');
  const access = { ...accessOf(settings), service: () => secret };
  const handling = createHandling(settings, createLog('silent'), { access });
  onTestFinished(() => handling.close());
  const opening = handling.replies.connection.open();
  const before = reads.mock.calls.length;
  change();
  await new Promise((resolve) => setTimeout(resolve, 1));
  expect(reads.mock.calls.length).toBeGreaterThan(before);
  await opening;
});
