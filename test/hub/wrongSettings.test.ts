import { EventHubConsumerClient } from '@azure/event-hubs';
import { afterEach, expect, it, vi } from 'vitest';
import { hubForAll } from '../../iot-hub-emulator/test/support/sharedHub.ts';
import type { Consumer } from '../../src/hub/reading/consumer.ts';
import { cureHubSdks } from '../../src/hub/sdkCures.ts';
import { createMemoryStore } from '../../src/hub/stores/memoryStore.ts';
import { createLog } from '../../src/log/log.ts';
import { consumersForEach, usualOpened } from './support/reading.ts';

// The official client against the sandbox hub: what somebody learns who has set something wrong.

cureHubSdks();

const partitions = 4;
let consumer: Consumer;
let rounds: number;
let lines: Record<string, unknown>[];
const hub = hubForAll({ partitions });
const start = consumersForEach();
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

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
const settings = 'HUB_EVENTS_CONNECTION_STRING';

interface Case {
  connection?: () => string;
  group?: string;
  partitions?: string[];
  setting: string | undefined;
  hubSaid: RegExp;
  todo: RegExp;
  /** Nobody has answered, so that a restart may help. */
  isSilent?: true;
}

const cases: Record<string, Case> = {
  'a wrong key': {
    connection: () => right().replace(/SharedAccessKey=[^;]*/, 'SharedAccessKey=d3Jvbmc='),
    setting: settings,
    hubSaid: /signature/,
    todo: /SharedAccessKey must be/,
  },
  'a policy that is not there': {
    connection: () => right().replace(/SharedAccessKeyName=[^;]*/, 'SharedAccessKeyName=nobody'),
    setting: settings,
    hubSaid: /policy is unknown/,
    todo: /SharedAccessKeyName/,
  },
  'a policy that may not listen': {
    connection: () => hub.eventHubConnectionString('device'),
    setting: settings,
    hubSaid: /'Listen' claim\(s\) are required/,
    todo: /may listen/,
  },
  'a consumer group that is not there': {
    group: 'nobodys',
    setting: 'HUB_CONSUMER_GROUP',
    hubSaid: /nobodys/,
    todo: /create this consumer group/,
  },
  'an event hub that is not there': {
    connection: () => right().replace(/EntityPath=[^;]*/, 'EntityPath=other'),
    setting: settings,
    hubSaid: /'other' could not be found/,
    todo: /EntityPath/,
  },
  'a host that is not there': {
    connection: () => right().replace(/127\.0\.0\.1:\d+/, 'no-such-host.invalid'),
    setting: settings,
    hubSaid: /(ENOTFOUND|EAI_AGAIN) no-such-host/,
    todo: /no such host/,
    isSilent: true,
  },
  'a port that refuses': {
    connection: () => right().replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1'),
    setting: settings,
    hubSaid: /ECONNREFUSED/,
    todo: /nobody answers there/,
    isSilent: true,
  },
  'a certificate that is not trusted': {
    connection: () =>
      right()
        .replace(/127\.0\.0\.1:\d+/, /HostName=([^;]*)/.exec(hub.serviceConnectionString)?.[1] ?? '')
        .replace(/;?UseDevelopmentEmulator=true/, ''),
    setting: settings,
    hubSaid: /unable to verify the first certificate/, // the hub sends its own, without the authority
    todo: /not trusted: NETWORK_CA_FILE/,
    isSilent: true,
  },
  'a partition that is not there': {
    partitions: ['0', '7'],
    setting: undefined,
    hubSaid: /specified partition is invalid/,
    todo: /Restart the service/,
  },
};

const troubles = () => lines.filter(({ level }) => level !== 'info');

it.each(Object.entries(cases))(
  '%s is logged in one line with the setting, the hub’s answer and the remedy; a refusal asks for no restart',
  async (_, one) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    if (one.partitions) vi.spyOn(EventHubConsumerClient.prototype, 'getPartitionIds').mockResolvedValue(one.partitions);
    begin(one.connection?.() ?? right(), one.group);
    const tenMinutes = () => vi.advanceTimersByTime(600_000);
    if (one.isSilent) tenMinutes();
    await expect.poll(() => troubles()).not.toEqual([]);
    const met = () => consumer.missing().filter((text) => one.hubSaid.test(text));
    await expect.poll(() => met()).not.toEqual([]);
    const before = rounds;
    if (one.group || one.partitions) await expect.poll(() => rounds).toBeGreaterThan(before + 10);
    expect(troubles()).toMatchObject([
      {
        msg: 'the hub cannot be read',
        hubSaid: expect.stringMatching(one.hubSaid),
        todo: expect.stringMatching(one.todo),
      },
    ]);
    expect(troubles()[0]?.['setting']).toBe(one.setting);
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
