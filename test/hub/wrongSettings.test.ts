import { EventHubConsumerClient } from '@azure/event-hubs';
import { expect, it, vi } from 'vitest';
import { hubForAll } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import type { Consumer } from '../../src/hub/reading/consumer.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createLog } from '../../src/observing/log.ts';
import { createMemoryStore } from '../../src/stores/fileCheckpoints.ts';
import { consumersForEach, usualOpened } from './support/reading.ts';

// The official client against the sandbox hub: what somebody learns who has set something wrong.

cureHubSdks();

const partitions = 4;
let consumer: Consumer;
let rounds: number;
let lines: Record<string, unknown>[];
const hub = hubForAll({ partitions });
const start = consumersForEach();

function begin(connectionString: string, consumerGroup = '$Default'): void {
  [lines, rounds] = [[], 0];
  const store = createMemoryStore();
  consumer = start({
    access: connectionString,
    consumerGroup,
    answerMs: 8_000,
    store: {
      ...store,
      ownerships() {
        rounds += 1;
        return store.ownerships();
      },
    },
    log: createLog('info', { write: (line) => lines.push(JSON.parse(line)) }),
    partition: () => ({ ...usualOpened(), dispatch: async () => true }),
  });
}

const right = () => hub.eventsConnectionString;
const replacing = (part: RegExp, text: string) => () => right().replace(part, text);
const address = /127\.0\.0\.1:\d+/;
const trusted = () => /HostName=([^;]*)/.exec(hub.serviceConnectionString)?.[1] ?? '';

interface Given {
  readonly connection?: () => string;
  readonly group?: string;
  readonly partitions?: string[];
  readonly setting?: string | undefined;
  /** Nobody has answered, so that a restart may help. */
  readonly isSilent?: true;
}

const cases: readonly (readonly [what: string, Given, hubSaid: RegExp, todo: RegExp])[] = [
  ['a wrong key', { connection: replacing(/Key=[^;]*/, 'Key=d3Jvbmc=') }, /signature/, /SharedAccessKey must be/],
  ['an unknown policy', { connection: replacing(/Name=[^;]*/, 'Name=x') }, /policy is unknown/, /SharedAccessKeyName/],
  [
    'a policy that may not listen',
    { connection: () => hub.eventHubConnectionString('device') },
    /'Listen' claim\(s\) are required/,
    /may listen/,
  ],
  [
    'a consumer group that is not there',
    { group: 'nobodys', setting: 'HUB_CONSUMER_GROUP' },
    /nobodys/,
    /create this consumer group/,
  ],
  ['another entity', { connection: replacing(/Path=[^;]*/, 'Path=other') }, /'other' could not be found/, /EntityPath/],
  [
    'a host that is not there',
    { connection: replacing(address, 'no-such-host.invalid'), isSilent: true },
    /(ENOTFOUND|EAI_AGAIN) no-such-host/,
    /no such host/,
  ],
  [
    'a port that refuses',
    { connection: replacing(address, '127.0.0.1:1'), isSilent: true },
    /ECONNREFUSED/,
    /nobody answers there/,
  ],
  [
    'a certificate that is not trusted',
    { connection: () => replacing(address, trusted())().replace(/;?UseDevelopmentEmulator=true/, ''), isSilent: true },
    // the hub sends its own, without the authority
    /unable to verify the first certificate/,
    /not trusted: NETWORK_CA_FILE/,
  ],
  [
    'a partition that is not there',
    { partitions: ['0', '7'], setting: undefined },
    /specified partition is invalid/,
    /Restart the service/,
  ],
];

const troubles = () => lines.filter(({ level }) => level !== 'info');

it.each(cases)(
  '%s is logged in one line with the setting, the hub’s answer and the remedy; a refusal asks for no restart',
  async (_, one, hubSaid, todo) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    if (one.partitions) vi.spyOn(EventHubConsumerClient.prototype, 'getPartitionIds').mockResolvedValue(one.partitions);
    begin(one.connection?.() ?? right(), one.group);
    const tenMinutes = () => vi.advanceTimersByTime(600_000);
    if (one.isSilent) tenMinutes();
    await expect.poll(() => troubles()).not.toEqual([]);
    const met = () => consumer.missing().filter((text) => hubSaid.test(text));
    await expect.poll(() => met()).not.toEqual([]);
    const before = rounds;
    if (one.group || one.partitions) await expect.poll(() => rounds).toBeGreaterThan(before + 10);
    const told = { hubSaid: expect.stringMatching(hubSaid), todo: expect.stringMatching(todo) };
    expect(troubles()).toMatchObject([{ msg: 'the hub cannot be read', ...told }]);
    expect(troubles()[0]?.['setting']).toBe('setting' in one ? one.setting : 'HUB_EVENTS_CONNECTION_STRING');
    expect(JSON.stringify(lines)).not.toContain(/SharedAccessKey=([^;]+)/.exec(right())?.[1]);
    if (!one.partitions) expect(JSON.stringify(lines)).not.toContain('reading partition');
    if (one.isSilent) expect(consumer.silentForMs()).toBeGreaterThanOrEqual(600_000);
    else {
      tenMinutes();
      await expect.poll(() => consumer.silentForMs()).toBeLessThan(300_000);
    }
  },
);

it('the service is ready only when the hub has accepted every partition', async () => {
  const refused = hub.faults.add({ kind: 'refuse-link', partition: '2', condition: 'com.microsoft:server-busy' });
  begin(right());
  const readings = () => lines.filter(({ msg }) => msg === 'reading partition').length;
  await expect.poll(readings).toBe(partitions - 1);
  await expect.poll(() => troubles()).not.toEqual([]);
  expect(consumer.missing()).toEqual([expect.stringMatching(/^partition 2 /)]);
  hub.faults.clear(refused);
  await expect.poll(() => consumer.missing()).toEqual([]);
  expect(readings()).toBe(partitions);
});
