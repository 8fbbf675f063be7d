import { startHub } from '../../../iot-hub-emulator/src/hub.ts';

// The hub under load, in a process of its own. argv: directory, number of devices, `persist` or not. All devices have the
// same key. It answers each message of its parent with what it has used so far.

const [directory = '', count = '0', persist] = process.argv.slice(2);
const hub = await startHub({
  directory,
  partitions: 4,
  rules: { bounds: { partition: 2 ** 30 } }, // room for a million events
  devices: Array.from({ length: Number(count) }, (_, i) => ({
    deviceId: `device-${i}`,
    primaryKey: Buffer.alloc(32, 1).toString('base64'),
  })),
  ...(persist === 'persist' && { persist: `${directory}/data` }),
});
process.on('message', () => {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system, rss: process.memoryUsage().rss, counters: hub.counters() });
});
process.on('disconnect', () => process.exit());
const { name, ports, caFile, adminUrl } = hub;
process.send?.({
  name,
  ports,
  caFile,
  adminUrl,
  service: hub.serviceConnectionString,
  events: hub.eventsConnectionString,
});
