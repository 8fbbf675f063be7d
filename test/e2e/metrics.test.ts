import type { Declaration } from 'telemetry/declaration.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { envelope } from '../../sandbox/stories/wire.ts';
import { prometheusNameOf } from '../../scripts/metricsPage.ts';
import { declarationOf, namesIn } from '../../src/metrics/metrics.ts';
import { appendEvent } from '../support/appendEvent.ts';
import { parseMetrics, type Sample, sampleOf } from '../support/promText.ts';
import { withConstants } from '../support/withConstants.ts';
import { startTestSandbox } from './testSandbox.ts';

// What an operator reads at /metrics of a service in trouble: a backend that is out, with more messages than memory may
// hold; a device that does not fetch; failures of ours; and devices that make up names.

const mark = 'zqhostile';
const objectId = 'acef0001-0000-4000-8000-0000000000ff';
const waiting = Array.from({ length: 100 }, (_, index) => `${mark}-waiting-${index}`);
const [mute, failing, talker] = [`${mark}-mute`, `${mark}-failing`, `${mark}-talker`];
const [perDevice, mostQueued, dropped] = [3, 50, 5];
const own = namesIn.service.map((name) => [name, declarationOf(name)] as const);

let sandbox: Awaited<ReturnType<typeof startTestSandbox>>;
beforeAll(async () => {
  sandbox = await startTestSandbox({
    environment: {
      ...{ DELIVERY_MAX_MESSAGES: '40', REPLIES_SENDS_PER_MINUTE: '60000' },
      ...withConstants({ timing: { expirySeconds: 6, checkpointSeconds: 1, replySeconds: 1 } }),
    },
  });
  for (const device of [...waiting, failing, talker]) sandbox.backends.world.principals.createDevice(device, 'acme');
  await (await sandbox.connect(mute)).close(); // the hub keeps what it does not fetch
});
afterAll(() => sandbox?.close());

async function served(): Promise<string> {
  const response = await fetch(sandbox.state.service.readyzUrl.replace('/readyz', '/metrics'));
  expect(response.status).toBe(200);
  return response.text();
}

/** Waits until the metrics have this value. */
const untilIs = (value: number, name: string, labels: Readonly<Record<string, string>> = {}) =>
  expect
    .poll(async () => sampleOf(parseMetrics(await served()), name, labels), { timeout: 90_000, interval: 200 })
    .toBe(value);

/** Stands behind everything else in the partition of its device. */
function append(device: string | undefined, properties: Readonly<Record<string, string>>, body: object) {
  const { partitions } = sandbox.hub;
  const place = Array.from(device ?? '').reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  appendEvent(partitions[place % partitions.length], { device, properties, body: Buffer.from(JSON.stringify(body)) });
}

const identityUpdate = (device: string, ack: string) =>
  append(device, envelope('identity.update', 'c', ack), { publicKey: `${mark}-key` });
const handled = 'device_messaging_handled_messages_total';

describe('/metrics', () => {
  it('has the partitions that are read', async () => {
    await untilIs(sandbox.hub.partitions.length, 'device_messaging_sessions_begun_total');
    const reading = { device_messaging_state: 'reading' };
    await untilIs(sandbox.hub.partitions.length, 'device_messaging_partitions', reading);
    for (const { id } of sandbox.hub.partitions) {
      await untilIs(0, 'device_messaging_partition_behind_duration', {
        messaging_destination_partition_id: String(id),
      });
    }
    await untilIs(0, 'device_messaging_unfinished_messages');
  });

  it('has the replies that a device does not fetch, dropped by their reason', async () => {
    for (let number = 0; number < mostQueued + dropped; number += 1) identityUpdate(mute, 'all');
    await untilIs(dropped, 'device_messaging_replies_total', { device_messaging_result: 'queue_full' });
    await untilIs(mostQueued, 'device_messaging_replies_total', { device_messaging_result: 'delivered' });
    const samples = parseMetrics(await served());
    const sends = 'messaging_client_operation_duration_count';
    expect(sampleOf(samples, sends, { error_type: 'queue_full' })).toBeGreaterThanOrEqual(dropped);
    await untilIs(1, 'device_messaging_devices_not_fetching');
    await untilIs(mostQueued + dropped, handled, { device_messaging_message: 'identity.update' });
  });

  it('has the outage of a backend, and the messages that wait for it', async () => {
    const { faults } = sandbox.backends;
    faults.add({ backend: 'informationModel', status: 503 });
    for (let version = 1; version <= perDevice; version += 1) {
      for (const device of waiting) {
        const properties = { ...envelope('model.update', 'c', 'none'), objectId };
        append(device, properties, { model: 'svc.device', type: 'pump', version });
      }
    }
    await untilIs(1, 'device_messaging_backend_outages_total', { device_messaging_backend: 'informationModel' });
    await untilIs(waiting.length * perDevice, 'device_messaging_unfinished_messages');
    await untilIs(1, 'device_messaging_backend_out');
    const samples = parseMetrics(await served());
    const held = (place: string) =>
      sampleOf(samples, 'device_messaging_held_messages', { device_messaging_place: place }) ?? Number.NaN;
    expect(held('memory')).toBeGreaterThan(0);
    expect(held('memory')).toBeLessThanOrEqual(40);
    const kept = (place: string) =>
      sampleOf(samples, 'device_messaging_partition_messages', { device_messaging_place: place }) ?? Number.NaN;
    expect(kept('disk')).toBeGreaterThan(200);
    expect(kept('work') + kept('memory') + kept('disk')).toBe(waiting.length * perDevice);
    expect(sampleOf(samples, 'device_messaging_partition_spool_bytes')).toBeGreaterThan(100 * kept('disk'));
    expect(sampleOf(samples, 'device_messaging_partition_oldest_duration')).toBeGreaterThan(0);
    const refused = { device_messaging_backend: 'informationModel', http_response_status_code: '503' };
    expect(sampleOf(samples, 'http_client_request_duration_count', refused)).toBeGreaterThanOrEqual(5);
    const probes = { device_messaging_operation: 'probe', http_response_status_code: '503' };
    await expect
      .poll(async () => sampleOf(parseMetrics(await served()), 'http_client_request_duration_count', probes), {
        timeout: 30_000,
      })
      .toBeGreaterThan(0);

    faults.clear();
    // The object is unknown: a failure of the devices.
    const answered = { device_messaging_code: 'http_response_error', device_messaging_message: 'model.update' };
    await untilIs(waiting.length * perDevice, handled, answered);
    await untilIs(0, 'device_messaging_unfinished_messages');
    const after = parseMetrics(await served());
    for (const name of ['backend_out', 'partition_spool_bytes', 'partition_oldest_duration']) {
      expect([name, sampleOf(after, `device_messaging_${name}`)]).toEqual([name, 0]);
    }
    for (const place of ['work', 'memory', 'replies']) {
      const labels = { device_messaging_place: place };
      expect([place, sampleOf(after, 'device_messaging_held_messages', labels)]).toEqual([place, 0]);
      expect([place, sampleOf(after, 'device_messaging_held_bytes', labels)]).toEqual([place, 0]);
    }
    const retries = { device_messaging_backend: 'informationModel' };
    expect(sampleOf(after, 'device_messaging_backend_retries_total', retries)).toBeGreaterThan(0);
    const updates = { device_messaging_message: 'model.update', error_type: 'device' };
    expect(sampleOf(after, 'messaging_process_duration_count', updates)).toBe(waiting.length * perDevice);
  });

  it('counts a failure of the service as a dead letter', async () => {
    sandbox.backends.faults.add({ backend: 'principalManager', method: 'PUT', status: 501, deviceId: failing });
    identityUpdate(failing, 'none');
    await untilIs(1, 'device_messaging_dead_letters_total', { device_messaging_result: 'parked' });
    await untilIs(1, handled, { device_messaging_code: 'internal_platform_error' });
  });

  it('counts events that are not for this service, and made-up names without these names', async () => {
    for (let number = 0; number < 20; number += 1) append(talker, { temperature: '21' }, { celsius: number });
    append(undefined, envelope('identity.update', 'c', 'none'), {});
    for (let number = 0; number < 30; number += 1) append(talker, envelope(`${mark}.${number}`, 'c', 'none'), {});
    const consumed = 'messaging_client_consumed_messages_total';
    await untilIs(20, consumed, { device_messaging_kind: 'skipped' });
    await untilIs(1, consumed, { device_messaging_kind: 'unattributed' });
    await untilIs(30, handled, { device_messaging_message: '_OTHER' });
    const ours = mostQueued + dropped + waiting.length * perDevice + 1 + 30;
    await untilIs(ours, consumed, { device_messaging_kind: 'message' });
    await untilIs(ours, handled);
  });

  it('has checkpoints without failures', async () => {
    const result = (name: string) => ({ device_messaging_result: name });
    const samples = parseMetrics(await served());
    expect(sampleOf(samples, 'device_messaging_checkpoints_total', result('written'))).toBeGreaterThan(0);
    expect(sampleOf(samples, 'device_messaging_checkpoints_total', result('failed'))).toBe(0);
  });

  const hasSamples = (samples: readonly Sample[], name: string, declaration: Declaration) => {
    const printed = prometheusNameOf(name, declaration);
    return sampleOf(samples, declaration.kind === 'histogram' ? `${printed}_count` : printed) !== undefined;
  };

  it('has the number of events still in the hub: zero', async () => {
    await untilIs(0, 'device_messaging_partition_behind_duration');
    await untilIs(0, 'device_messaging_partition_checkpoint_duration');
  });

  it('has exactly the metrics of docs/metrics.md', async () => {
    const samples = parseMetrics(await served());
    const missing = own.filter(([name, declaration]) => !hasSamples(samples, name, declaration));
    expect(missing.map(([name]) => name)).toEqual([]);
    const printed = own.map(([name, declaration]) => prometheusNameOf(name, declaration));
    const further = samples.filter(
      ({ name }) => name !== 'target_info' && !printed.includes(name.replace(/_(bucket|count|sum)$/, '')),
    );
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
