import { BlobServiceClient } from '@azure/storage-blob';
import { beforeAll, describe, expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { accountKey } from '../../sandbox/methods/azurite.ts';
import { storageForAll } from '../support/storageAccount.ts';
import { linesUntil } from '../support/waiting.ts';
import { methodDevice } from './support/methodDevice.ts';
import { conveyor, startTestFrontDoor } from './support/testFrontDoor.ts';

// What an operator sees of invocations in progress, and of those of one device.

const operators = 'the-token-of-the-operators';
const authorized = { authorization: `Bearer ${operators}` };
const said: string[] = [];

const storage = storageForAll();
beforeAll(async () => {
  const container = BlobServiceClient.fromConnectionString(storage.connectionString).getContainerClient('firmware');
  await container.create();
  await container.getBlockBlobClient('m-1.bin').upload('image', 5);
});
const setup = startForAll(() =>
  startTestFrontDoor({
    settings: {
      METHODS_FILES_CONNECTION_STRING: storage.connectionString,
      METHODS_FILES_CONTAINER: 'firmware',
      ADMIN_TOKEN: operators,
    },
  }),
);
const motor = startForAll(() => methodDevice(setup.hub, 'motor-1'));
const adminUrl = () => `http://127.0.0.1:${setup.lines.find(({ adminPort }) => adminPort)?.['adminPort']}`;

async function ask(path: string) {
  const body = await (await fetch(adminUrl() + path, { headers: authorized })).text();
  said.push(body);
  return JSON.parse(body);
}

/** Follows a device until an invocation is handled. */
async function follow(query: string, act: () => Promise<unknown>) {
  const lines = await linesUntil(`${adminUrl()}/tap?${query}`, authorized, 'handled', act);
  said.push(JSON.stringify(lines));
  return lines;
}

describe('the tap of the front door', () => {
  it('follows an invocation through every stage, with bodies but without signatures', async () => {
    const input = { image: 'm-1.bin' };
    const lines = await follow('device=motor-1&bodies=true', async () => {
      const answered = setup.call(conveyor, 'loadFirmware', { input, timeout: 5 });
      (await motor.next()).respond(200, { status: 7, output: { bytes: 5 } });
      expect((await answered).status).toBe(200);
    });
    expect(lines.map(({ stage }) => stage)).toEqual([
      ...['following', 'invoked', 'decoded', 'attempt', 'sent', 'answer', 'handled'],
    ]);
    const [following, invoked, decoded, attempt, sent, answer, handled] = lines;
    expect(following).toMatchObject({ device: 'motor-1', instance: expect.any(String) });
    expect(invoked).toMatchObject({ method: 'loadFirmware', objectId: setup.objectIdOf(conveyor) });
    expect(decoded).toMatchObject({ timeout: 5, body: JSON.stringify(input) });
    expect(attempt).toMatchObject({ backend: 'type registry', attempt: 1, method: 'GET', status: 200 });
    const expected = { to: 'motor-1', timeoutSeconds: 5, request: expect.stringContaining('/firmware/m-1.bin') };
    expect(sent).toMatchObject(expected);
    expect(answer).toMatchObject({ status: 200, response: '{"status":7,"output":{"bytes":5}}' });
    expect(handled).toMatchObject({ status: 200, methodStatus: 7, ms: expect.any(Number) });
    const place = invoked?.['correlationId'];
    expect(lines.slice(1).map(({ correlationId }) => correlationId)).toEqual(lines.slice(1).map(() => place));
    expect(motor.received.at(-1)?.text).toContain('sig=');
    expect(JSON.stringify(lines)).not.toContain('sig=');
  });
});

describe('the admin port of the front door', () => {
  it('names its program and instance', async () => {
    expect(await ask('/')).toMatchObject({ program: 'front door', instance: expect.any(String) });
    expect((await fetch(`${adminUrl()}/requests`)).status).toBe(401);
  });

  it('shows that an invocation waits for a backend, and for which', async () => {
    setup.backends.faults.add({ backend: 'informationModel', delayMs: 2_000 });
    const answered = setup.call(conveyor, 'stop');
    await expect
      .poll(async () => (await ask('/requests')).requests[0]?.waitsFor)
      .toBe('an answer of the information model (read object model)');
    expect(await ask('/backends')).toMatchObject({
      informationModel: { circuit: 'closed', connections: { inUse: 1, waiting: 0 } },
      typeRegistry: { circuit: 'closed', cacheEntries: expect.any(Number) },
    });
    setup.backends.faults.clear();
    (await motor.next()).respond(200, { status: 0 });
    expect((await answered).status).toBe(200);
  });
});

it('No output of the admin port and the tap of the front door has a secret', async () => {
  await ask('/settings');
  const all = said.join('\n');
  const key = /SharedAccessKey=([^;]+)/.exec(setup.hub.serviceConnectionString)?.[1] ?? '';
  const secrets = [...Object.values(setup.tokens), setup.backends.token.clientSecret, operators, key, accountKey];
  for (const secret of [...secrets, 'sig=']) {
    expect(secret.length).toBeGreaterThan(3);
    expect(all).not.toContain(secret);
  }
});
