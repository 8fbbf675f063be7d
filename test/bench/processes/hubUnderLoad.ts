import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startHub } from 'iot-hub-emulator';
import { answerParent } from './answerParent.ts';

// The hub under load, in a process of its own. argv: directory, number of devices, `persist` or not. All devices have the
// same key.

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
const [directory = '', count = '0', persist] = process.argv.slice(2);
const hub = await startHub({
  ...{ directory, partitions: 4, rules: { bounds: { partition: 2 ** 30 } } }, // room for a million events
  devices: Array.from({ length: Number(count) }, (_, i) => ({
    deviceId: `device-${i}`,
    primaryKey: Buffer.alloc(32, 1).toString('base64'),
  })),
  ...(persist === 'persist' && { persist: `${directory}/data` }),
});
answerParent({
  usage() {
    collectGarbage();
    const { user, system } = process.cpuUsage();
    return { cpu: user + system, rss: process.memoryUsage().rss, counters: hub.counters() };
  },
});
const { name, ports, caFile, adminUrl } = hub;
const description = {
  name,
  ports,
  caFile,
  adminUrl,
  events: hub.eventsConnectionString,
};
process.send?.(description);

export type HubUnderLoadDescription = typeof description;
