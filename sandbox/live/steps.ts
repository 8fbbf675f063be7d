import { setTimeout as sleep } from 'node:timers/promises';
import type { Device } from '../device/device.ts';
import { differences } from '../stories/pattern.ts';
import type { Deployment } from './deployment.ts';
import { failingMessage, type LiveNames, liveMessages } from './messages.ts';
import { exchange } from './sendLive.ts';

export interface Step {
  readonly name: string;
  /** Why it is not tried. */
  readonly skipped?: string | undefined;
  /** What is wrong, in sentences. */
  try(device: Device): Promise<readonly string[]>;
}

/** A backend may take several attempts before it counts as failed, and a service some time to start. */
const patience = 10;

/** What an acceptance run tries, one after the other. */
export function stepsFor(
  deployment: Deployment,
  names: LiveNames,
  waitMs: number,
  signal: AbortSignal,
): readonly Step[] {
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
  try {
    await hinder?.do(signal);
    const problems = await exchange(device, failingMessage(names), patience * waitMs);
    if (problems.length > 0 || before === undefined) return problems;
    // it is kept after its answer
    for (const until = performance.now() + waitMs; performance.now() < until; await sleep(250, undefined, { signal }))
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
