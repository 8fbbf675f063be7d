import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type iothub from 'azure-iothub';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { play } from '../src/command/play.ts';
import { readScript } from '../src/device/script.ts';
import { serviceForAll } from './support/eventClients.ts';
import { folderForAll } from './support/fixtures.ts';
import { hubForAll } from './support/sharedHub.ts';

// Devices that play a script, as the command runs them, with a hub and the official service client.

let service: iothub.Client;
const hub = hubForAll();
serviceForAll(hub, (opened) => (service = opened));
const folder = folderForAll('script');
const file = join(folder, 'script.json');

/** Runs the command; the answer interrupts it, and resolves when it has ended. */
function started(deviceIds: readonly string[], script: object) {
  writeFileSync(file, JSON.stringify(script));
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  onTestFinished(() => log.mockRestore());
  let interrupt = () => {};
  const interruption = new Promise<void>((resolve) => (interrupt = resolve));
  const asked = { words: ['device', ...deviceIds], script: file, json: false };
  const ended = play(asked, async () => ({ url: hub.adminUrl }), interruption);
  onTestFinished(async () => {
    interrupt();
    await ended;
  });
  return { ended, said: () => log.mock.calls.flat() };
}
const sentBy = (deviceId: string) => hub.journal.list({ deviceId, kind: 'd2c' });
const call = async (deviceId: string, methodName: string, payload: unknown = 1) =>
  (await service.invokeDeviceMethod(deviceId, { methodName, payload, connectTimeoutInSeconds: 60 })).result;

test('devices that the hub does not know are added, send their messages in turn, and end', async () => {
  const messages = [{ body: { t: 21.5 }, properties: { hall: '8' } }, { body: 'text' }, {}];
  await started(['one', 'two'], { telemetry: { everyMs: 10, times: 4, messages } }).ended;
  for (const deviceId of ['one', 'two'])
    expect(sentBy(deviceId)).toMatchObject([
      { body: Buffer.from('{"t":21.5}'), properties: { hall: '8' }, system: { contentType: 'application/json' } },
      {
        body: Buffer.from('text'),
        properties: {},
        system: expect.not.objectContaining({ contentType: expect.anything() }),
      },
      { body: Buffer.from('') },
      { body: Buffer.from('{"t":21.5}') },
    ]);
});

test('methods are answered as the script says, others with 501, and what is printed cannot change the terminal', async () => {
  const { said } = started(['answering'], {
    methods: { stop: { status: 202, payload: { done: true }, delayMs: 1 }, nothing: {} },
  });
  await expect.poll(said).toContain('answering is connected');
  expect(await call('answering', 'stop')).toEqual({ status: 202, payload: { done: true } });
  expect(await call('answering', 'nothing')).toEqual({ status: 200, payload: null });
  expect(await call('answering', 'toString')).toEqual({ status: 501, payload: null });
  expect(await call('answering', 'toString', '\u009b2J')).toMatchObject({ status: 501 });
  expect(said()).toContain('answering answered stop 1 with 202 {"done":true}');
  expect(said().join()).not.toContain('\u009b');
});

test('a device whose message is not taken, or whose connection breaks, goes on where it was, and is called again', async () => {
  hub.faults.add({ kind: 'settle', answer: 'release', link: 'd2c', times: 1 });
  const messages = Array.from({ length: 500 }, (_, i) => ({ body: String(i) }));
  started(['tough'], { telemetry: { everyMs: 10, messages }, methods: { ping: {} } });
  for (const fault of [
    { kind: 'drop', connections: 'device', how: 'rst' },
    { kind: 'restart', downMs: 50 },
  ] as const) {
    const before = sentBy('tough').length;
    await expect.poll(() => sentBy('tough').length).toBeGreaterThan(before + 3);
    await hub.faults.strike(fault);
  }
  expect(await call('tough', 'ping')).toMatchObject({ status: 200 });
  const before = sentBy('tough').length;
  await expect.poll(() => sentBy('tough').length).toBeGreaterThan(before + 3);
  const bodies = sentBy('tough').map(({ body }) => Number(body));
  expect([...new Set(bodies)].slice(0, 10)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]); // at least once, in order
});

describe('a script', () => {
  test('of the README is one', () => {
    const [, text = ''] =
      /<!-- script -->\n```json\n(.*?)```/s.exec(readFileSync('iot-hub-emulator/README.md', 'utf8')) ?? [];
    writeFileSync(file, text);
    expect(readScript(file).methods).toHaveProperty('stop');
  });
  test.each([
    ['{', /is no JSON/],
    ['[]', /it takes a JSON object/],
    ['{}', /has neither telemetry nor methods/],
    ['{"telemetrie":{}}', /there is no telemetrie in a script/],
    ['{"telemetry":{"everyMs":1,"messages":[{}]}}', /telemetry\.everyMs is at least 10/],
    ['{"telemetry":{"messages":[]}}', /telemetry\.messages/],
    ['{"telemetry":{"messages":[{},{"properties":{"a":1}}]}}', /telemetry\.messages\.1\.properties\.a takes a text/],
    ['{"methods":{"stop":{"status":"ok"}}}', /methods\.stop\.status takes a whole number/],
    ['{"methods":{"stop":{"payloads":1}}}', /there is no methods\.stop\.payloads in a script/],
  ])('such as %s is refused with its place', (text, why) => {
    writeFileSync(file, text);
    expect(() => readScript(file)).toThrow(why);
    expect(() => readScript(file)).toThrow(`--script ${file}: `);
  });
  test('that is not there is refused', () =>
    expect(() => readScript(join(folder, 'none'))).toThrow(/cannot be read: ENOENT/));
});

test('the command says what it takes', async () => {
  const asked = { words: ['device', 'pump-1'], script: undefined, json: false };
  await expect(play(asked, async () => ({ url: '' }), Promise.resolve())).rejects.toThrow(
    'device pump-1 --script pump.json',
  );
});
