import { randomBytes, randomUUID } from 'node:crypto';
import { Agent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import iothub from 'azure-iothub';
import { connectDevice, type Device } from '../device/device.ts';
import { differences } from '../stories/pattern.ts';
import { createPrinter, folding } from '../terminal/print.ts';
import type { Streams } from '../terminal/streams.ts';
import { explain } from '../terminal/usage.ts';
import { help, readOptions } from './acceptanceOptions.ts';
import { type Deployment, deploymentOf } from './deployment.ts';
import { failingMessage, type LiveNames, liveMessages } from './messages.ts';
import { exchange } from './sendLive.ts';

interface Step {
  readonly name: string;
  /** Why it is not tried. */
  readonly skipped?: string | undefined;
  /** What is wrong, in sentences. */
  try(device: Device): Promise<readonly string[]>;
}

/** Of one step, as `--json` prints it. */
interface Result {
  readonly name: string;
  readonly result: 'right' | 'wrong' | 'skipped';
  readonly why: readonly string[];
}

/** A backend may take several attempts before it counts as failed, and a service some time to start. */
const patience = 10;

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
  // A hub at another port than 443 is an emulator, to which only an agent leads.
  const rest = Reflect.get(registry, '_restApiClient') as { setOptions(options: object): void };
  if (port !== undefined) rest.setOptions({ http: { agent: new Agent({ host, port: Number(port) }) } });
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

function stepsFor(deployment: Deployment, names: LiveNames, waitMs: number, signal: AbortSignal): readonly Step[] {
  const { methods, restart, hinder, release } = deployment;
  return [
    ...liveMessages(names).map((message) => ({
      name: `${message.message}: ${message.title}`,
      try: (device: Device) => exchange(device, message, waitMs),
    })),
    {
      name: 'method: An application calls a method of the first object',
      skipped: methods ? undefined : 'METHODS_URL is not set',
      try: (device) => invoke(device, deployment, names, waitMs),
    },
    {
      name: 'restart: A message that comes meanwhile is answered, and one after it',
      skipped: restart ? undefined : 'nobody can be asked to restart the service, and there is no --restart',
      try: (device) => survive(device, deployment, names, waitMs, signal),
    },
    {
      name: 'dead letter: A message fails through the service’s side',
      skipped:
        hinder && release ? undefined : 'nobody can be asked to hinder the principal manager, and there is no --hinder',
      try: (device) => letDie(device, deployment, names, waitMs, signal),
    },
  ];
}

async function invoke(device: Device, { methods }: Deployment, names: LiveNames, waitMs: number) {
  const received: unknown[] = [];
  await device.onMethod('invokeMethod', async (payload, send) => {
    received.push(payload);
    await send(200, { status: 7, output: { shown: names.run } });
  });
  const ids = {
    correlationId: `${names.run}-method`,
    objectId: names.firstId,
    model: 'svc.device',
    method: 'identify',
  };
  const input = { seconds: 3 };
  const response = await fetch(`${methods?.url}/objects/${ids.objectId}/models/${ids.model}/methods/${ids.method}`, {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', 'x-correlation-id': ids.correlationId },
      ...(methods?.token !== undefined && { authorization: `Bearer ${methods.token}` }),
    },
    body: JSON.stringify({ input }),
    signal: AbortSignal.timeout(waitMs + 15_000), // the front door looks up as long
  });
  const answer = await response.text();
  if (response.status !== 200) return [`the front door answered ${response.status}: ${answer}`];
  return [
    ...differences(JSON.parse(answer), { status: 7, output: { shown: names.run } }, 'the answer'),
    ...differences(received, [{ ...ids, target: '', timeout: 30, input }], 'what the device received'),
  ];
}

async function survive(device: Device, deployment: Deployment, names: LiveNames, waitMs: number, signal: AbortSignal) {
  const before = await instanceOf(deployment);
  const send = async (round: string) => {
    const message = liveMessages(names, round).find(({ message }) => message === 'Svc.Device.SyncModel');
    return message ? exchange(device, message, patience * waitMs) : ['there is no such message'];
  };
  const [meanwhile] = await Promise.all([send('-meanwhile'), deployment.restart?.do(signal)]);
  const problems = [...meanwhile, ...(await send('-after'))];
  const after = await instanceOf(deployment);
  return before !== undefined && before === after
    ? [...problems, `${before} runs as before: it was not restarted`]
    : problems;
}

async function letDie(device: Device, deployment: Deployment, names: LiveNames, waitMs: number, signal: AbortSignal) {
  const { admin, hinder, release } = deployment;
  const before = admin && (await lettersOf(deployment, names));
  await hinder?.do(signal);
  try {
    const problems = await exchange(device, failingMessage(names), patience * waitMs);
    if (problems.length > 0 || before === undefined) return problems;
    // it is kept after its answer
    for (const until = performance.now() + waitMs; performance.now() < until; await sleep(250))
      if ((await lettersOf(deployment, names)) > before) return [];
    return [
      `the service has no more dead letters of ${names.deviceId} than before, ${before}, within ${waitMs / 1000} s`,
    ];
  } finally {
    await release?.do(signal);
  }
}

async function lettersOf(deployment: Deployment, { deviceId }: LiveNames): Promise<number> {
  const path = `/dead-letters?limit=1000&device=${encodeURIComponent(deviceId)}`;
  return ((await ask(deployment, path)) as { readonly deadLetters: readonly unknown[] }).deadLetters.length;
}

const instanceOf = async (deployment: Deployment): Promise<unknown> =>
  deployment.admin && ((await ask(deployment, '/')) as { readonly instance?: string }).instance;

async function ask({ admin }: Deployment, path: string): Promise<unknown> {
  const response = await fetch(`${admin?.url}${path}`, {
    headers: admin?.token === undefined ? {} : { authorization: `Bearer ${admin.token}` },
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok)
    throw new Error(`The admin port answered ${response.status} to GET ${path}: ${await response.text()}`);
  return response.json();
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
