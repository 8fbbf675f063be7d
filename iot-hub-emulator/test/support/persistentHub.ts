import { startHub } from '../../src/hub.ts';

// A program of its own, to be killed: a hub that persists. argv: directory, base64 key of the devices, device ids.
// Prints one line of JSON when it listens.

const [directory = '', primaryKey = '', ...deviceIds] = process.argv.slice(2);
const devices = deviceIds.map((deviceId) => ({ deviceId, primaryKey }));
const hub = await startHub({ directory, persist: `${directory}/data`, devices });
const { name, ports, caFile, adminUrl } = hub;
const service = hub.connectionString('service');
process.stdout.write(`${JSON.stringify({ name, ports, caFile, adminUrl, service })}\n`);
