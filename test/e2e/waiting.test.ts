import { expect, it } from 'vitest';
import { envelope } from '../../sandbox/stories/wire.ts';
import { appendEvent } from '../support/events.ts';
import { grouped } from '../support/observed.ts';
import { sandboxForAll } from './testSandbox.ts';

// A backend is out while more than a thousand messages wait for it, many times more than the service may have in work.

const sandbox = sandboxForAll({ environment: { DELIVERY_MAX_MESSAGES: '40' } });

const devices = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}`);
const [waiting, others, finders] = [devices('waiting', 300), devices('other', 50), devices('finder', 10)];
const perDevice = 4;
const objectId = 'acef0001-0000-4000-8000-0000000000ff';
const nobody = '00000000-0000-0000-0000-000000000000';

let sent = 0;

/** Stands behind everything else in the partition of its device. */
function append(device: string, action: string, properties: Record<string, string>, body: object) {
  const { partitions } = sandbox.hub;
  const place = [...waiting, ...others, ...finders].indexOf(device);
  sent += 1;
  appendEvent(partitions[place % partitions.length], {
    device,
    properties: { ...envelope(action, `${device} ${sent}`), ...properties, ack: 'none' },
    body: Buffer.from(JSON.stringify(body)),
  });
}
const identityUpdate = (device: string) => append(device, 'identity.update', {}, { publicKey: 'key' });
const modelUpdate = (device: string, version: number) =>
  append(device, 'model.update', { objectId }, { model: 'svc.device', type: 'pump', version });

/** Looking through all calls takes its time. */
const seldom = { timeout: 200_000, interval: 500 };

const calls = (backend: string, method: string) =>
  sandbox.backends.calls().filter((call) => call.backend === backend && call.method === method);
const changesOf = (backend: string, names: readonly string[]) =>
  calls(backend, 'PUT').filter(({ deviceId = '', fault }) => names.includes(deviceId) && fault === undefined);

it('more than a thousand messages that wait for the information model do not delay others', async () => {
  const { backends } = sandbox;
  for (const device of [...waiting, ...others, ...finders]) backends.world.principals.createDevice(device, 'acme');
  backends.faults.add({ backend: 'informationModel', status: 503 });
  for (const device of finders) modelUpdate(device, 1);
  const probes = () => calls('informationModel', 'GET').filter(({ path }) => path.includes(nobody));
  await expect.poll(() => probes().length).toBeGreaterThan(0);

  for (let version = 1; version <= perDevice; version += 1) for (const device of waiting) modelUpdate(device, version);
  for (const device of others) identityUpdate(device);
  await expect
    .poll(() => new Set(changesOf('principalManager', others).map(({ deviceId }) => deviceId)).size, seldom)
    .toBe(others.length);
  expect(changesOf('informationModel', waiting)).toEqual([]);

  backends.faults.clear();
  const handled = () => changesOf('informationModel', waiting);
  await expect.poll(() => handled().length, seldom).toBe(waiting.length * perDevice);
  const inOrder = Array.from({ length: perDevice }, (_, index) => index + 1);
  const versions = grouped(handled(), ({ deviceId = '' }) => deviceId);
  for (const device of waiting) {
    const ofDevice = versions.get(device)?.map(({ body }) => (JSON.parse(body) as { version: number }).version);
    expect(ofDevice).toEqual(inOrder);
  }
});
