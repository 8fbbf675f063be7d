import { randomBytes, randomUUID } from 'node:crypto';
import iothub from 'azure-iothub';
import { leadToHub } from 'iot-hub-emulator/clients';
import { connectDevice, type Device } from '../device/device.ts';
import { createPrinter, folding } from '../terminal/print.ts';
import type { Streams } from '../terminal/streams.ts';
import { explain } from '../terminal/usage.ts';
import { help, readOptions } from './acceptanceOptions.ts';
import { type Deployment, deploymentOf } from './deployment.ts';
import { failingMessage, type LiveNames, liveMessages } from './messages.ts';
import { type Step, stepsFor } from './steps.ts';

/** Of one step, as `--json` prints it. */
interface Result {
  readonly name: string;
  readonly result: 'right' | 'wrong' | 'skipped';
  readonly why: readonly string[];
}

/** Runs `npm run acceptance`; returns its exit code. */
export async function acceptance(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  streams: Streams,
  signal: AbortSignal,
): Promise<number> {
  const { stdout, stderr } = streams;
  try {
    const options = readOptions(args);
    if (options.help) {
      stdout.write(help);
      return 0;
    }
    const printer = createPrinter(options.json ? (stderr as Streams['stdout']) : stdout);
    const { line } = folding(printer);
    const deployment = await deploymentOf(options, environment, streams);
    const run = `acceptance-${randomBytes(4).toString('hex')}`;
    const deviceId = /(?:^|;)\s*DeviceId=([^;]+)/.exec(deployment.device ?? '')?.[1] ?? options.device;
    const names = { run, deviceId, firstId: randomUUID(), secondId: randomUUID() };
    const steps = stepsFor(deployment, names, options.waitMs, signal);
    for (const text of announcement(deployment, names, steps)) line(text);
    if (!options.yes) {
      line('\nNothing was done: add --yes to do it.');
      return 0;
    }
    line();
    const { connectionString, remove } = await provide(deployment, deviceId);
    const results: Result[] = [];
    try {
      const device = await connectDevice({ id: deviceId, connectionString });
      const leave = () => void device.close();
      signal.addEventListener('abort', leave);
      try {
        for (const step of steps) {
          signal.throwIfAborted();
          const began = performance.now();
          const why = step.skipped === undefined ? await tried(step, device, signal) : [step.skipped];
          const result = step.skipped !== undefined ? 'skipped' : why.length === 0 ? 'right' : 'wrong';
          results.push({ name: step.name, result, why });
          const sign = { right: printer.paint('green', '✓'), wrong: printer.paint('red', '✗'), skipped: '–' }[result];
          line(
            `${sign} ${step.name}${result === 'skipped' ? '' : ` (${((performance.now() - began) / 1000).toFixed(1)} s)`}`,
          );
          for (const text of why) line(`    ${text}`);
        }
      } finally {
        signal.removeEventListener('abort', leave);
        await device.close();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await remove();
    }
    const count = (wanted: Result['result']) => results.filter(({ result }) => result === wanted).length;
    line(`\n${count('right')} ✓  ${count('wrong')} ✗  ${count('skipped')} –`);
    if (options.json) stdout.write(`${JSON.stringify({ run, deviceId, results }, undefined, 2)}\n`);
    if (signal.aborted) return 130;
    return count('wrong') === 0 ? 0 : 1;
  } catch (error) {
    stderr.write(`${explain(error, 'acceptance')}\n`);
    return error instanceof DeviceLeft ? 2 : 3;
  }
}

/** The device could not be removed. */
class DeviceLeft extends Error {
  override readonly name = 'DeviceLeft';
}

/** The device, which is made unless it is there, and what removes one that was made. */
async function provide({ owner, device }: Deployment, deviceId: string) {
  if (owner === undefined) return { connectionString: device ?? '', remove: async () => undefined };
  const address = /HostName=([^;]+)/.exec(owner)?.[1] ?? '';
  const [host = '', port] = address.split(':');
  const registry = iothub.Registry.fromConnectionString(owner);
  // a hub at another port than 443 is an emulator
  if (port !== undefined) await leadToHub({ host, ports: { https: Number(port) } }, registry);
  const { responseBody } = await registry.create({ deviceId }).catch((error: Error) => {
    const sentence =
      error.name === 'DeviceAlreadyExistsError'
        ? `The hub has a device ${deviceId} already, which this would remove: name another one with --device`
        : `The hub does not make the device ${deviceId}: ${error.message}`;
    throw new Error(sentence, { cause: error });
  });
  const key = responseBody.authentication?.symmetricKey?.primaryKey;
  return {
    connectionString: `HostName=${address};DeviceId=${deviceId};SharedAccessKey=${key}`,
    async remove() {
      await registry.delete(deviceId).catch(({ message }: Error) => {
        throw new DeviceLeft(`The device ${deviceId} may still be at the hub: ${message}`);
      });
    },
  };
}

async function tried(step: Step, device: Device, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return await step.try(device);
  } catch (error) {
    signal.throwIfAborted();
    const { message, cause } = error as Error;
    return [cause instanceof Error ? `${message}: ${cause.message}` : message];
  }
}

/** What a run does, leaves behind and costs. */
function announcement(deployment: Deployment, names: LiveNames, steps: readonly Step[]): readonly string[] {
  const { owner, device, restart, hinder, release } = deployment;
  const { run, deviceId, firstId, secondId } = names;
  const hub = /HostName=([^;]+)/.exec(owner ?? device ?? '')?.[1];
  const messages = liveMessages(names);
  const repeats = restart ? messages.filter(({ message }) => message === 'Svc.Device.SyncModel') : [];
  const all = [...messages, ...repeats, ...repeats, ...(hinder ? [failingMessage(names)] : [])];
  const replies = all.reduce((sum, message) => sum + message.replies.length, 0);
  return [
    `As the device ${deviceId} of ${hub} this tries the service that runs there. What it does:`,
    owner === undefined
      ? `  - While it runs, another connection of ${deviceId} is closed, and replies that wait for it are taken: use a device that nobody else uses.`
      : `  - It creates the device ${deviceId} at the hub, and removes it at the end, also after Ctrl-C: two requests to the registry. The principal manager must know it before.`,
    `  - It sends ${all.length} messages, whose ids begin with ${run}, and receives ${replies} replies: ${all.length + replies} of the daily quota of the hub, in units of 4 KB${deployment.methods ? ', and 2 for a method' : ''}.`,
    `  - It leaves behind the type ${run} 1.0.0, the objects ${firstId} and ${secondId}, and a reference between them. No message removes them, and types stay for ever.`,
    `  - The messages about identities name ${run}, which does not exist: they must be refused.`,
    ...(restart ? [`  - The service is restarted, ${restart.how}: all devices wait meanwhile.`] : []),
    ...(hinder && release
      ? [
          `  - The principal manager is made to fail, ${hinder.how}, until the message has failed, and works again ${release.how}. Messages of other devices may fail with it.`,
          `  - It leaves behind a dead letter: npm run dead-letters -- delete --device ${deviceId}`,
        ]
      : []),
    ...steps.flatMap(({ name, skipped }) =>
      skipped === undefined ? [] : [`  - It skips ${name.split(':')[0]}: ${skipped}.`],
    ),
  ];
}
