import type { BackendCall } from '../backends/calls.ts';
import type { Device, Reply } from '../device/device.ts';
import { type Printer, silent } from '../print.ts';
import type { Sandbox } from '../sandbox.ts';
import { unpack } from '../showMessage.ts';
import { stories } from '../stories/index.ts';
import type { Example, Reply as ExpectedReply, Json, Story } from '../stories/story.ts';
import { boosterId, propertiesOf, sample } from '../stories/wire.ts';
import { anyGuid, anyTimestamp, differences, type Pattern } from './pattern.ts';
import { show } from './show.ts';

/** What happened with one example, seen from the device and from the backends. */
export interface Exchange {
  example: Example;
  sent: { properties: Readonly<Record<string, string>>; body: Buffer };
  calls: BackendCall[];
  replies: Reply[];
  /** How this differs from what the story says; empty when it does not. */
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

/** Put in the place of the examples' names, so that the examples are still new when they are sent by hand. */
const otherNames: readonly (readonly [string, string])[] = [
  [boosterId, 'b0057e50-0000-4000-8000-00000000000d'],
  ['TP-7', 'TP-8'],
  ['BP-3', 'BP-4'],
  ['vacuum-pump', 'jet-pump'],
  ['sensor-1', 'sensor-2'],
];

const renamed = (example: Example): Example =>
  JSON.parse(otherNames.reduce((text, [name, other]) => text.replaceAll(name, other), JSON.stringify(example)));

/** Has devices of the sandbox send the example of each story and prints what they see. Rejects with `DemonstrationFailed`. */
export async function demonstrate(
  sandbox: Sandbox,
  { printer = silent, waitMs = 15_000, signal }: DemonstrationOptions = {},
): Promise<Exchange[]> {
  const devices = new Map<string, Device>();
  const exchanges: Exchange[] = [];
  const hangUp = () => Promise.all([...devices.values()].map((device) => device.close()));
  signal?.addEventListener('abort', hangUp);
  try {
    for (const story of stories) {
      signal?.throwIfAborted();
      const { device: id = 'pump-1' } = story.example;
      const device = devices.get(id) ?? (await sandbox.connect(id));
      devices.set(id, device);
      const exchange = await perform(story, device, sandbox, waitMs);
      exchanges.push(exchange);
      show(device.id, exchange, printer);
      refuse(exchange.example.title, exchange.problems);
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
  story: Story,
  device: Device,
  { hub, backends, state }: Sandbox,
  waitMs: number,
): Promise<Exchange> {
  const since = hub.journal.last;
  const example = renamed(story.example);
  const sent = { properties: propertiesOf(story.message, example), body: Buffer.from(example.body) };
  await device.send(sent.properties, sent.body);

  const replies: Reply[] = [];
  while (replies.length < example.replies.length) {
    const reply = await device.next(waitMs);
    if (!reply) break;
    replies.push(reply);
  }

  const policy = /SharedAccessKeyName=([^;]+)/.exec(
    state.service.environment['HUB_SERVICE_CONNECTION_STRING'] ?? '',
  )?.[1];
  const fromService = new Set(
    hub.journal
      .list({ since, deviceId: device.id, kind: 'c2d' })
      .flatMap((entry) => (entry.policy === policy ? [entry.system.messageId] : [])),
  );
  const problems = example.replies.flatMap((expected, index) => {
    const reply = replies[index];
    if (!reply) {
      const nobody = state.service.pid ? '' : '; the sandbox was started without a service';
      return [`reply ${index + 1} of ${example.replies.length} did not come within ${waitMs / 1000} s${nobody}`];
    }
    const stranger = fromService.has(reply.messageId) ? [] : [`reply ${index + 1} was not sent by the service`];
    return [...stranger, ...compare(reply, expected).map((text) => `reply ${index + 1}: ${text}`)];
  });
  return {
    example,
    sent,
    calls: backends.calls({ since, deviceId: device.id }),
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
    ...differences(reply.properties, patternOf(expected.properties), 'properties'),
    ...differences(body, patternOf(expected.body), 'body'),
  ];
}

/** What is different in each run may be any of its kind. */
function patternOf(value: Json): Pattern {
  if (value === sample.objectId) return anyGuid;
  if (value === sample.time) return anyTimestamp;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(patternOf);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, patternOf(one)]));
}
