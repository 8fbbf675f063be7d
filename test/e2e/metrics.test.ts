import type { Declaration } from '@device-messaging/telemetry/meter.ts';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { envelope } from '../../sandbox/stories/wire.ts';
import { prometheusNameOf } from '../../scripts/metricsPage.ts';
import { metrics, namesIn } from '../../src/observing/metrics.ts';
import { appendEvent } from '../support/events.ts';
import { withConstants } from '../support/processes.ts';
import { parseMetrics, type Sample, sampleOf } from '../support/prom.ts';
import { sandboxForAll } from './testSandbox.ts';

// Which metrics an operator finds at /metrics of a service in trouble: a backend that is out, with more messages than memory may
// hold; a device that does not fetch; failures of ours; and devices that make up names.

const mark = 'zqhostile';
const objectId = 'acef0001-0000-4000-8000-0000000000ff';
const waiting = Array.from({ length: 100 }, (_, index) => `${mark}-waiting-${index}`);
const [mute, failing, talker] = [`${mark}-mute`, `${mark}-failing`, `${mark}-talker`];
const [perDevice, mostQueued, dropped, skipped, madeUp] = [3, 50, 5, 20, 30];
const updates = waiting.length * perDevice;
const [handled, consumed] = ['device_messaging_handled_messages_total', 'messaging_client_consumed_messages_total'];
const requests = 'http_client_request_duration_count';
const probes = { device_messaging_operation: 'probe', http_response_status_code: '503' };
const soon = { timeout: 120_000, interval: 200 };
const own = namesIn.service.map((name) => [name, metrics[name]] as const);

const sandbox = sandboxForAll({
  environment: {
    ...{ DELIVERY_MAX_MESSAGES: '40', REPLIES_SENDS_PER_MINUTE: '60000' },
    ...withConstants({ timing: { expirySeconds: 6, checkpointSeconds: 1, replySeconds: 1 } }),
  },
});
/** After all of the trouble. */
let after: readonly Sample[];
beforeAll(async () => {
  for (const device of [...waiting, failing, talker]) sandbox.backends.world.principals.createDevice(device, 'acme');
  await (await sandbox.connect(mute)).close(); // the hub keeps what it does not fetch
  const { faults } = sandbox.backends;

  for (let number = 0; number < mostQueued + dropped; number += 1) identityUpdate(mute, 'all');
  faults.add({ backend: 'principalManager', method: 'PUT', status: 501, deviceId: failing });
  identityUpdate(failing, 'none');
  for (let number = 0; number < skipped; number += 1) append(talker, { temperature: '21' }, { celsius: number });
  append(undefined, envelope('identity.update', 'c', 'none'), {});
  for (let number = 0; number < madeUp; number += 1) append(talker, envelope(`${mark}.${number}`, 'c', 'none'), {});
  await untilIs(mostQueued + dropped + 1 + madeUp, handled);

  faults.add({ backend: 'informationModel', status: 503 });
  const properties = { ...envelope('model.update', 'c', 'none'), objectId };
  for (let version = 1; version <= perDevice; version += 1)
    for (const device of waiting) append(device, properties, { model: 'svc.device', type: 'pump', version });
  await untilIs(updates, 'device_messaging_unfinished_messages');
  await untilIs(1, 'device_messaging_backend_out');
  await vi.waitFor(async () => expect(await current(requests, probes)).toBeGreaterThan(0), soon);

  faults.clear();
  await untilIs(0, 'device_messaging_unfinished_messages');
  await untilIs(0, 'device_messaging_partition_behind_duration');
  await untilIs(0, 'device_messaging_partition_checkpoint_duration');
  after = parseMetrics(await served());
});

async function served(): Promise<string> {
  const response = await fetch(sandbox.state.service.readyzUrl.replace('/readyz', '/metrics'));
  expect(response.status).toBe(200);
  return response.text();
}

const untilIs = (value: number, name: string) => vi.waitFor(async () => expect(await current(name)).toBe(value), soon);

const current = async (name: string, labels?: Labels) => sampleOf(parseMetrics(await served()), name, labels);

/** Stands behind everything else in the partition of its device. */
function append(device: string | undefined, properties: Readonly<Record<string, string>>, body: object) {
  const { partitions } = sandbox.hub;
  const place = Array.from(device ?? '').reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  appendEvent(partitions[place % partitions.length], { device, properties, body: Buffer.from(JSON.stringify(body)) });
}

const identityUpdate = (device: string, ack: string) =>
  append(device, envelope('identity.update', 'c', ack), { publicKey: `${mark}-key` });

type Labels = Readonly<Record<string, string>>;
const has = (name: string, labels?: Labels) => expect(sampleOf(after, name, labels));

describe('/metrics', () => {
  it('counts events that are not for this service, and made-up names without these names', () => {
    const ours = mostQueued + dropped + 1 + madeUp + updates;
    has(consumed, { device_messaging_kind: 'skipped' }).toBe(skipped);
    has(consumed, { device_messaging_kind: 'unattributed' }).toBe(1);
    has(consumed, { device_messaging_kind: 'message' }).toBe(ours);
    has(handled, { device_messaging_message: '_OTHER' }).toBe(madeUp);
    has(handled).toBe(ours);
  });

  const hasSamples = (name: string, declaration: Declaration) => {
    const printed = prometheusNameOf(name, declaration);
    return sampleOf(after, declaration.kind === 'histogram' ? `${printed}_count` : printed) !== undefined;
  };

  it('has exactly the metrics of docs/metrics.md', () => {
    has('device_messaging_ready').toBe(1);
    const missing = own.filter(([name, declaration]) => !hasSamples(name, declaration));
    expect(missing.map(([name]) => name)).toEqual([]);
    const printed = own.map(([name, declaration]) => prometheusNameOf(name, declaration));
    const known = ['target_info', ...printed];
    const further = after.filter(({ name }) => !known.includes(name.replace(/_(bucket|count|sum)$/, '')));
    expect(further).toEqual([]);
  });
  it('has no secret and no value or name of a device', async () => {
    const text = await served();
    const { environment } = sandbox.state.service;
    const secrets = Object.entries(environment).flatMap(([name, value]) => {
      const keys = [...value.matchAll(/(?:SharedAccessKey|AccountKey)=([^;]+)/g)].map(([, key = '']) => key);
      return /SECRET|TOKEN$/.test(name) && value !== '' ? [value] : keys;
    });
    expect(secrets.length).toBeGreaterThanOrEqual(3);
    for (const secret of [...secrets, mark, objectId]) expect(text).not.toContain(secret);
    expect(text.length).toBeLessThan(150_000);
  });
});
