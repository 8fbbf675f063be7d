import { createAdminClient } from '../admin/adminClient.ts';
import { type AdminPort, HubRefused } from '../admin/ask.ts';
import { readScript } from '../device/script.ts';
import { playScript } from '../device/scriptedDevice.ts';
import { called } from './called.ts';
import type { CommandLine } from './options.ts';
import { UsageError } from './usageError.ts';

/** Runs devices that play a script, until they have sent everything or `interruption`. Throws `UsageError` or `Refusal`. */
export async function play(
  asked: Pick<CommandLine, 'words' | 'script' | 'json'>,
  runningHub: () => Promise<AdminPort>,
  interruption: Promise<void>,
): Promise<void> {
  const [, ...deviceIds] = asked.words;
  if (asked.script === undefined || deviceIds.length === 0)
    throw new UsageError(`The command takes devices and a script: ${called} device pump-1 --script pump.json`);
  const script = readScript(asked.script);
  const hub = await runningHub();
  const admin = createAdminClient(hub.url, hub.token);
  const { hostName, ports, ca } = await admin.describe();
  const ending = new AbortController();
  void interruption.then(() => ending.abort());
  const say = (deviceId: string, what: string) =>
    console.log(asked.json ? JSON.stringify({ deviceId, what }) : `${deviceId} ${what}`);
  const devices = await Promise.all(
    deviceIds.map(async (deviceId) => {
      const known = admin.showDevice(deviceId).catch((error) => {
        if (!(error instanceof HubRefused) || error.status !== 404) throw error;
        return admin.addDevice({ deviceId });
      });
      const { primaryKey: key } = await known;
      if (key === undefined) throw new UsageError(`${deviceId} has a certificate; a script is for devices with a key.`);
      return { deviceId, key, hostName, port: ports.amqps, ca };
    }),
  );
  await Promise.all(devices.map((device) => playScript(device, script, say, ending.signal)));
}
