import type { Device, Reply } from '../device/device.ts';
import { stories } from '../stories/index.ts';
import { anyGuid, anyTimestamp, differences, type Pattern } from '../stories/pattern.ts';
import type { Example, Reply as ExpectedReply, Json, Story } from '../stories/story.ts';
import { boosterId, propertiesOf, sample } from '../stories/wire.ts';
import { type Printer, silent } from '../terminal/print.ts';
import { unpack } from '../terminal/showMessage.ts';
import { withDevices } from './devices.ts';
import type { DemonstratedSandbox, Exchange, Told } from './exchange.ts';
import { showExchange } from './showExchange.ts';

/** A reply is missing, differs from the expected one, or did not come from the service. */
export class DemonstrationFailed extends Error {
  override name = 'DemonstrationFailed';

  constructor(title: string, problems: readonly string[]) {
    super(`“${title}” failed:\n${problems.map((text) => `  - ${text}`).join('\n')}`);
  }
}

export interface DemonstrationOptions {
  printer?: Printer;
  /** Is given what happens, as it happens. */
  tell?: (told: Told) => void;
  /** How long to wait for each reply, in milliseconds. */
  waitMs?: number;
  signal?: AbortSignal;
}

/** Replace the names in the examples, so that the examples are still new when they are sent by hand. */
const otherNames: readonly (readonly [string, string])[] = [
  [boosterId, 'b0057e50-0000-4000-8000-00000000000d'],
  ['TP-7', 'TP-8'],
  ['BP-3', 'BP-4'],
  ['vacuum-pump', 'jet-pump'],
  ['sensor-1', 'sensor-2'],
];

/** An example as the demonstration sends it. */
export const renamed = (example: Example): Example =>
  JSON.parse(otherNames.reduce((text, [name, other]) => text.replaceAll(name, other), JSON.stringify(example)));

/** Has devices of the sandbox send the example of each story and prints what they see. Rejects with `DemonstrationFailed`. */
export async function demonstrate(
  sandbox: DemonstratedSandbox,
  { printer = silent, tell, waitMs = 15_000, signal }: DemonstrationOptions = {},
): Promise<Exchange[]> {
  return withDevices(sandbox, signal, async (connect, connected) => {
    const exchanges: Exchange[] = [];
    for (const story of stories) {
      signal?.throwIfAborted();
      const device = await connect(story.example.device ?? 'pump-1');
      const since = sandbox.hub.journal.last;
      const exchange = await perform(story, device, sandbox, waitMs);
      exchanges.push(exchange);
      const [sent] = sandbox.hub.journal.list({ since, deviceId: device.id, kind: 'd2c' });
      if (sent) tell?.({ position: sent.position, title: exchange.example.title, problems: exchange.problems });
      showExchange(device.id, exchange, printer);
      const { example, problems } = exchange;
      if (problems.length > 0) throw new DemonstrationFailed(example.title, problems);
    }
    for (const [id, device] of connected) {
      if (await device.next(0)) throw new DemonstrationFailed(id, ['it received a reply that is not expected']);
    }
    return exchanges;
  });
}

async function perform(
  story: Story,
  device: Device,
  { hub, backends, state }: DemonstratedSandbox,
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
      const reason = state.service.pid ? '' : '; the sandbox was started without a service';
      return [`reply ${index + 1} of ${example.replies.length} did not come within ${waitMs / 1000} s${reason}`];
    }
    const origin = fromService.has(reply.messageId) ? [] : [`reply ${index + 1} was not sent by the service`];
    return [...origin, ...compare(reply, expected).map((text) => `reply ${index + 1}: ${text}`)];
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

/** Values that differ in each run match any of their kind. */
function patternOf(value: Json): Pattern {
  if (value === sample.objectId) return anyGuid;
  if (value === sample.time) return anyTimestamp;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(patternOf);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, patternOf(one)]));
}
