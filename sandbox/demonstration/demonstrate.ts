import type { JournalEntry as BackendCall } from '../backends/journal.ts';
import type { Device, Reply } from '../device/device.ts';
import { type Printer, silent } from '../print.ts';
import type { Sandbox } from '../sandbox.ts';
import { unpack } from '../showMessage.ts';
import { differences } from './pattern.ts';
import { show } from './show.ts';
import type { ExpectedReply, Step } from './step.ts';
import { steps } from './steps.ts';

/** What happened in one step, seen from the device and from the backends. */
export interface Exchange {
  step: Step;
  sent: { properties: Readonly<Record<string, string>>; body: Buffer };
  calls: BackendCall[];
  replies: Reply[];
  /** How this differs from what the step expects; empty when it does not. */
  problems: string[];
}

/** A reply is missing, is not as it has to be, or did not come from the service. */
export class DemonstrationFailed extends Error {
  override name = 'DemonstrationFailed';

  constructor(title: string, problems: readonly string[]) {
    super(`“${title}” went wrong:\n${problems.map((text) => `  - ${text}`).join('\n')}`);
  }
}

export interface DemonstrationOptions {
  printer?: Printer;
  /** How long to wait for each reply, in milliseconds. */
  waitMs?: number;
  signal?: AbortSignal;
}

/** Has devices of the sandbox go through all steps and prints what they see. Rejects with `DemonstrationFailed`. */
export async function demonstrate(
  sandbox: Sandbox,
  { printer = silent, waitMs = 15_000, signal }: DemonstrationOptions = {},
): Promise<Exchange[]> {
  const devices = new Map<string, Device>();
  const exchanges: Exchange[] = [];
  const hangUp = () => Promise.all([...devices.values()].map((device) => device.close()));
  signal?.addEventListener('abort', hangUp);
  try {
    for (const step of steps) {
      signal?.throwIfAborted();
      const device = devices.get(step.device) ?? (await sandbox.connect(step.device));
      devices.set(step.device, device);
      const exchange = await perform(step, device, sandbox, exchanges, waitMs);
      exchanges.push(exchange);
      show(exchange, printer);
      refuse(step.title, exchange.problems);
    }
    for (const [id, device] of devices) {
      const surplus = await device.next(0);
      if (surplus) refuse(`${id} is done`, ['there is a reply that nobody expects']);
    }
    return exchanges;
  } finally {
    signal?.removeEventListener('abort', hangUp);
    await hangUp();
  }
}

function refuse(title: string, problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw new DemonstrationFailed(title, problems);
}

async function perform(
  step: Step,
  device: Device,
  { hub, backends, state }: Sandbox,
  earlier: Exchange[],
  waitMs: number,
): Promise<Exchange> {
  const hubMark = hub.journal.list().at(-1)?.index ?? -1;
  const backendMark = backends.journal.last;
  const { request, replies: expectedReplies } = step.exchange(earlier);
  const sent = { properties: request.properties, body: Buffer.from(JSON.stringify(request.body)) };
  await device.send(sent.properties, sent.body);

  const replies: Reply[] = [];
  while (replies.length < expectedReplies.length) {
    const reply = await device.next(waitMs);
    if (!reply) break;
    replies.push(reply);
  }

  const policy = /SharedAccessKeyName=([^;]+)/.exec(
    state.service.environment['HUB_SERVICE_CONNECTION_STRING'] ?? '',
  )?.[1];
  const fromService = new Set(
    hub.journal
      .list({ since: hubMark, deviceId: device.id, kind: 'c2d' })
      .flatMap((entry) => (entry.kind === 'c2d' && entry.policy === policy ? [entry.system.messageId] : [])),
  );
  const problems = expectedReplies.flatMap((expected, index) => {
    const reply = replies[index];
    if (!reply) {
      const nobody = state.service.pid ? '' : '; the sandbox was started without a service';
      return [`reply ${index + 1} of ${expectedReplies.length} did not come within ${waitMs / 1000} s${nobody}`];
    }
    const stranger = fromService.has(reply.messageId) ? [] : [`reply ${index + 1} was not sent by the service`];
    return [...stranger, ...compare(reply, expected).map((text) => `reply ${index + 1}: ${text}`)];
  });
  return {
    step,
    sent,
    calls: backends.journal.entries({ since: backendMark, deviceId: device.id }),
    replies,
    problems,
  };
}

function compare(reply: Reply, expected: ExpectedReply): string[] {
  const text = unpack(reply).toString('utf8');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return [`the body is not JSON: ${JSON.stringify(text)}`];
  }
  return [
    ...differences(reply.properties, expected.properties, 'properties'),
    ...differences(body, expected.body, 'body'),
  ];
}
