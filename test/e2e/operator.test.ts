import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import rhea from 'rhea';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Device } from '../../sandbox/device/device.ts';
import { inherited } from '../../sandbox/service/process.ts';
import { projectDirectory } from '../../sandbox/state/directories.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { nextAck, startTestSandbox } from './testSandbox.ts';

// What an operator asks while something is wrong, answered by the admin port and the tap alone.

const operators = 'the-token-of-the-operators';
const canary = 'Y2FuYXJ5IHNpbmdz';

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
let pump: Device;
beforeAll(async () => {
  sandbox = await startTestSandbox({
    environment: { ADMIN_TOKEN: operators, REPLIES_MAX_WAIT_SECONDS: '6', BACKENDS_ATTEMPT_TIMEOUT_SECONDS: '5' },
  });
  pump = await sandbox.connect('pump-1');
  for (const device of ['stuck', 'flooder', 'deaf', 'waiter']) await (await sandbox.connect(device)).close();
});
afterEach(() => sandbox.backends.faults.clear());
afterAll(async () => {
  await pump?.close();
  await sandbox?.close();
});

const objectId = 'acef0001-0000-4000-8000-0000000000aa';
const said: string[] = [];

async function ask(path: string) {
  const response = await fetch(`${sandbox.state.service.adminUrl}${path}`, {
    headers: { authorization: `Bearer ${operators}` },
  });
  const body = await response.text();
  said.push(body);
  return JSON.parse(body);
}

/** What the admin port says about one device. */
async function deviceWork(device: string) {
  const { devices } = await ask(`/devices?device=${device}`);
  return devices[0];
}

const send = (name: string, id: string, properties: Record<string, string>, body: string) =>
  pump.send({ ...envelope(name, id), ...properties }, Buffer.from(body));

/** Puts messages of a device that is not connected into the hub. */
function append(device: string, count: number, action: string, body: object, properties: Record<string, string> = {}) {
  for (let index = 0; index < count; index += 1) {
    sandbox.hub.partitions[0]?.append(({ sequenceNumber, offset, enqueuedTime }) =>
      rhea.message.encode({
        message_annotations: {
          'x-opt-sequence-number': sequenceNumber,
          'x-opt-offset': String(offset),
          'x-opt-enqueued-time': enqueuedTime,
          'iothub-connection-device-id': device,
          'iothub-message-source': 'Telemetry',
        },
        application_properties: { ...envelope(action, `${device} ${sequenceNumber}`), ...properties },
        body: rhea.message.data_section(Buffer.from(JSON.stringify(body))),
      }),
    );
  }
}

/** Runs the tap until it has a line of this stage, and then to its end. */
async function tapUntil(options: string[], stage: string, act: () => Promise<unknown>): Promise<string> {
  const environment = {
    ...inherited(),
    ADMIN_PORT: new URL(sandbox.state.service.adminUrl).port,
    ADMIN_TOKEN: operators,
  };
  const child = spawn(process.execPath, ['dist/tap.js', ...options], { cwd: projectDirectory, env: environment });
  const errors = text(child.stderr);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  try {
    await expect.poll(() => output, { timeout: 15_000 }).toContain('following');
    await act();
    await expect.poll(() => output, { timeout: 20_000 }).toContain(stage);
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`the tap said: ${output}${await errors}`, { cause: error });
  }
  child.kill('SIGTERM');
  said.push(output);
  return output;
}

describe('an operator sees on the admin port', () => {
  it('which device is stuck behind a backend that hangs, since when, and how much waits behind it', async () => {
    sandbox.backends.faults.add({ backend: 'informationModel', deviceId: 'stuck', hang: true });
    append('stuck', 3, 'model.update', { type: 'pump', version: 1 }, { objectId });
    await expect
      .poll(() => deviceWork('stuck'))
      .toMatchObject({ state: 'in flight', waitsFor: expect.stringMatching(/^an answer of the information model \(/) });
    await expect
      .poll(() => deviceWork('stuck'))
      .toMatchObject({ messages: 3, oldest: { seconds: expect.any(Number) } });
    const { partition, oldest, begun } = await deviceWork('stuck');
    const { partitions } = await ask('/partitions');
    const own = partitions.find((one: { partition: string }) => one.partition === partition);
    expect(own).toMatchObject({
      state: 'reading',
      inFlight: 1,
      waiting: 2,
      oldest: { device: 'stuck', sequenceNumber: oldest.sequenceNumber },
    });
    expect(Date.parse(begun.since)).toBeGreaterThanOrEqual(Date.parse(oldest.readAt));
    expect(await ask('/backends')).toMatchObject({
      informationModel: { circuit: 'closed', connections: { inUse: 1, waiting: 0 } },
    });
  });

  it('who floods: the device with the most messages that wait', async () => {
    sandbox.backends.faults.add({ backend: 'principalManager', delayMs: 300 });
    append('flooder', 40, 'identity.update', { publicKey: canary });
    await expect.poll(async () => (await deviceWork('flooder'))?.messages ?? 0).toBeGreaterThan(20);
    const { devices } = await ask('/devices?limit=1000');
    const most = devices.toSorted((a: { messages: number }, b: { messages: number }) => b.messages - a.messages)[0];
    expect(most.device).toBe('flooder');
  });

  it('who does not fetch: its replies wait for room in its queue, and later it is listed', async () => {
    append('deaf', 60, 'identity.update', { publicKey: canary });
    await expect
      .poll(() => deviceWork('deaf'), { timeout: 30_000 })
      .toMatchObject({ waitsFor: expect.stringContaining('room in the queue of the device') });
    await expect
      .poll(async () => (await ask('/devices?device=deaf')).notFetching, { timeout: 30_000 })
      .toEqual({ devices: ['deaf'], further: 0 });
    expect(await ask('/replies')).toMatchObject({ connected: true, notFetching: 1 });
  });

  it('which backend is out, and who waits for it', async () => {
    sandbox.backends.faults.add({ backend: 'principalManager', status: 503 });
    for (let device = 0; device < 10; device += 1) {
      sandbox.backends.world.principals.createDevice(`finder-${device}`, 'acme');
      append(`finder-${device}`, 1, 'identity.update', { publicKey: canary });
    }
    await expect
      .poll(() => ask('/backends'), { timeout: 20_000 })
      .toMatchObject({ principalManager: { circuit: 'open', outage: { failure: 'HTTP 503' } } });
    append('waiter', 1, 'identity.update', { publicKey: canary });
    await expect
      .poll(() => deviceWork('waiter'))
      .toMatchObject({ state: 'waits for backends', waitsFor: 'a backend that is out: principalManager' });
    sandbox.backends.faults.clear();
    await expect.poll(() => deviceWork('waiter'), { timeout: 20_000 }).toBeUndefined();
  });

  it('which instance and build answers, and with which settings', async () => {
    const { program, instance, version, paths } = await ask('/');
    const log = await readFile(sandbox.state.service.logFile, 'utf8');
    expect(log).toContain(`"instance":"${instance}"`);
    expect([program, version]).toEqual(['service', expect.stringMatching(/^\d/)]);
    expect(Object.keys(paths)).toContain('GET /devices');
    expect((await ask('/settings')).replies).toEqual({ maxWaitSeconds: 6, sendsPerMinute: 0 });
  });

  it('nothing without the token', async () => {
    for (const path of ['/', '/settings', '/devices', '/tap?device=pump-1']) {
      expect((await fetch(`${sandbox.state.service.adminUrl}${path}`)).status).toBe(401);
    }
  });
});

describe('the tap', () => {
  it('follows a message of the device through every stage, and no other device’s', async () => {
    const output = await tapUntil(['--device', 'pump-1', '--json', '--bodies'], '"stage":"handled"', async () => {
      append('deaf', 1, 'identity.update', { publicKey: canary });
      await send(
        'identity.update',
        'followed',
        { context: 'renewal' },
        `{"publicKey":"${canary}","counter":9007199254740993}`,
      );
      await nextAck(pump);
    });
    const events = output
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(events[0]).toMatchObject({ stage: 'following', device: 'pump-1', instance: expect.any(String) });
    expect(events.slice(1).map(({ stage }) => stage)).toEqual(
      expect.arrayContaining(['read', 'begun', 'decoded', 'attempt', 'reply', 'handled']),
    );
    expect(new Set(events.map(({ device }) => device))).toEqual(new Set(['pump-1']));
    const find = (stage: string) => events.find((event) => event.stage === stage);
    expect(find('read')).toMatchObject({ properties: { action: 'identity.update', context: 'renewal' } });
    expect(find('begun')).toMatchObject({ message: 'identity.update', correlationId: 'followed', ack: 'all' });
    expect(find('decoded').body).toContain('9007199254740993');
    expect(events).toContainEqual(
      expect.objectContaining({
        stage: 'attempt',
        backend: 'principal manager',
        method: 'PUT',
        ms: expect.any(Number),
      }),
    );
    expect(find('reply')).toMatchObject({ outcome: 'delivered', properties: { msgType: 'ack', context: 'renewal' } });
    expect(find('handled')).toMatchObject({ code: 'ok', replies: 1 });
  });

  it('is readable, says why an event is skipped, and shows no body unless asked', async () => {
    const output = await tapUntil(['--device', 'pump-1'], 'skipped', async () => {
      await pump.send({ msgType: 'telemetry' }, Buffer.from('{"temperature":21}'));
    });
    expect(output).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}\d+\/\d+ +skipped +why="msgType is not action"$/m);
    expect(output).not.toContain('temperature');
  });

  it('ends after its time, with 0', async () => {
    const environment = {
      ...inherited(),
      ADMIN_PORT: new URL(sandbox.state.service.adminUrl).port,
      ADMIN_TOKEN: operators,
    };
    const ended = await new Promise<{ code: unknown; output: string }>((resolve) => {
      const args = ['dist/tap.js', '--device', 'pump-1', '--seconds', '1'];
      execFile(process.execPath, args, { cwd: projectDirectory, env: environment }, (error, output) =>
        resolve({ code: error?.code ?? 0, output }),
      );
    });
    expect(ended).toEqual({ code: 0, output: expect.stringContaining('ended') });
  });

  it('says what is wrong when nobody answers, or the token is wrong', async () => {
    for (const [port, token, why] of [
      ['1', operators, /does not answer/],
      [new URL(sandbox.state.service.adminUrl).port, 'another-token-of-16', /bearer token is needed/],
    ] as const) {
      const environment = { ...inherited(), ADMIN_PORT: port, ADMIN_TOKEN: token };
      const failed = await new Promise<{ code: unknown; errors: string }>((resolve) => {
        const args = ['dist/tap.js', '--device', 'pump-1'];
        execFile(process.execPath, args, { cwd: projectDirectory, env: environment }, (error, _, errors) =>
          resolve({ code: error?.code, errors }),
        );
      });
      expect(failed).toEqual({ code: 1, errors: expect.stringMatching(why) });
      expect(failed.errors).not.toContain(token);
    }
  });
});

it('No secret is in anything that the admin port and the tap have said', async () => {
  const { environment } = sandbox.state.service;
  const keys = Object.values(environment).flatMap((value) => /SharedAccessKey=([^;]+)/.exec(value)?.[1] ?? []);
  const secrets = [...keys, environment['BACKENDS_CLIENT_SECRET'] ?? '', operators, canary];
  expect(keys).toHaveLength(2);
  const all = [...said, await readFile(sandbox.state.service.logFile, 'utf8')].join('\n');
  expect(all.length).toBeGreaterThan(5_000);
  for (const secret of secrets) {
    expect(secret.length).toBeGreaterThan(8);
    expect(all).not.toContain(secret);
  }
});
