import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { answers } from '../../sandbox/service/process.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { createRealDevice, type RealDevice } from '../chaos/realDevice.ts';
import { withConstants } from '../support/processes.ts';
import { linesIn, sandboxForAll } from './testSandbox.ts';

// The service knows only the hub, which fails over and back while devices send with the official client. It ends each time, and is
// started again; the front door goes on. Each event that the hub has had is handled once: what it has not delivered at one endpoint
// is there again on the way back.

const ids = ['pump-1', 'pump-2', 'gateway-1', 'rival-1'];
const sandbox = sandboxForAll({
  methods: 'running',
  environment: {
    HUB_EVENTS_CONNECTION_STRING: '',
    ...withConstants({ reading: { silentMs: 2_000 }, failover: { unreadMs: 500 } }),
  },
});
let devices: RealDevice[];
beforeAll(() => (devices = ids.map((id) => createRealDevice(sandbox.hub, id))));
afterAll(() => Promise.all((devices ?? []).map((device) => device.close())));

const soon = { timeout: 120_000, interval: 100 };
const lines = () => linesIn(sandbox.state.service.logFile);
const linesOf = (event: string) => lines().filter((line) => line['event'] === event);
const handled = () => lines().flatMap(({ msg, correlationId }) => (msg === 'handled' ? [String(correlationId)] : []));
const taken = () => sandbox.hub.journal.list({ kind: 'd2c' }).map(({ correlationId }) => String(correlationId));

/** Longer than an answer takes, so that the service has never more to do than it can. */
const answerMs = 500;

/** Every device sends a message, waits for the answer for a while, and sends the next, until it is told to stop. */
function load() {
  let isOver = false;
  const answered = new Map<string, () => void>();
  const end = sandbox.hub.journal.watch((entry) => {
    if (entry.kind === 'c2d') answered.get(entry.correlationId ?? '')?.();
  });
  async function send(device: RealDevice, deviceId: string, id: string) {
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise<void>((resolve) => {
      answered.set(id, resolve);
      timer = setTimeout(resolve, answerMs);
    });
    const body = Buffer.from(JSON.stringify({ publicKey: id }));
    const properties = envelope('identity.update', id);
    await device.send({ id, deviceId, ack: 'all', intent: { does: 'identify' }, properties, said: {}, body });
    await answer;
    clearTimeout(timer);
    answered.delete(id);
  }
  const all = devices.map(async (device, index) => {
    const deviceId = ids[index] ?? '';
    for (let count = 0; !isOver; count += 1) await send(device, deviceId, `${deviceId} ${count}`);
  });
  return async () => {
    isOver = true;
    await Promise.all(all);
    end();
  };
}

const checkpointFile = (hub: string) => {
  const directory = join(sandbox.directory, 'data', 'checkpoints');
  const found = readdirSync(directory).find((name) => name.endsWith('.json') && name.includes(`%20${hub}%20`));
  return found === undefined ? undefined : readFileSync(join(directory, found), 'utf8');
};

/** Messages taken until the last failover: all others are at the endpoint of now. */
let takenBefore = 0;

async function failOver(): Promise<string> {
  const found = linesOf('hub.endpoint_found').length;
  await sandbox.hub.faults.strike({ kind: 'failover' });
  takenBefore = taken().length;
  await expect.poll(() => linesOf('hub.endpoint_found').length, soon).toBe(found + 1);
  const { name } = sandbox.hub.endpoint();
  expect(linesOf('hub.endpoint_found').at(-1)?.['endpoint']).toMatch(new RegExp(`^localhost:\\d+/${name}$`));
  return name;
}

it('no event is lost and none is handled twice when the hub fails over under load, there and back', async () => {
  expect(linesOf('program.started')[0]?.['access']).toMatchObject({ events: 'look-up', service: 'key' });
  const first = sandbox.hub.endpoint().name;
  const frontDoor = sandbox.frontDoor?.process?.pid;
  const stopLoad = load();
  await expect.poll(() => handled().length, soon).toBeGreaterThan(40);

  const second = await failOver();
  expect(second).not.toBe(first);
  const left = checkpointFile(first);
  const before = handled().length;
  await expect.poll(() => handled().length, soon).toBeGreaterThan(before + 40);
  expect(linesOf('hub.failed_over')).toMatchObject([
    { from: expect.stringMatching(`/${first}$`), to: expect.stringMatching(`/${second}$`) },
  ]);
  expect(checkpointFile(first)).toBe(left);

  expect(await failOver()).toBe(first);
  const back = handled().length;
  await expect.poll(() => handled().length, soon).toBeGreaterThan(back + 40);
  await stopLoad();
  const unhandled = () =>
    taken()
      .slice(takenBefore)
      .filter((id) => !handled().includes(id));
  await expect.poll(unhandled, soon).toEqual([]);
  // What was left unread at the second endpoint is there when the hub comes to it again.
  await failOver();
  await expect.poll(() => taken().length - handled().length, soon).toBe(0);
  expect(handled().toSorted()).toEqual(taken().toSorted());
  const ends = ['hub.failed_over', 'program.stopping', 'program.stopped', 'program.starting'];
  const observation = lines().flatMap(({ event }) => (ends.includes(String(event)) ? [event] : []));
  expect(observation.slice(1)).toEqual([...ends, ...ends, ...ends]);
  expect(linesOf('partition.gap')).toEqual([]);
  expect([sandbox.frontDoor?.process?.pid, await answers(sandbox.state.methods?.readyzUrl ?? '')]).toEqual([
    frontDoor,
    true,
  ]);
});
