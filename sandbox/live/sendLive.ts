import type { Device, Reply } from '../device/device.ts';
import { differences, type Pattern } from '../stories/pattern.ts';
import type { LiveReply } from '../stories/story.ts';
import { unpack } from '../terminal/showMessage.ts';
import type { LiveMessage } from './messages.ts';

/** Sends a message; returns what is wrong with the replies, in sentences. Replies to others are passed over. */
export async function exchange(
  device: Pick<Device, 'send' | 'next'>,
  { id, properties, body, replies }: LiveMessage,
  waitMs: number,
): Promise<readonly string[]> {
  await device.send(properties, Buffer.from(body));
  const problems: string[] = [];
  for (const [index, expected] of replies.entries()) {
    const place = `reply ${index + 1} of ${replies.length}, ${expected.what}`;
    const reply = await nextOf(device, id, waitMs);
    if (reply === undefined) return [...problems, `${place}, has not come within ${waitMs / 1000} s`];
    problems.push(...differencesOf(reply, expected).map((text) => `${place}: ${text}`));
  }
  return problems;
}

async function nextOf(device: Pick<Device, 'next'>, id: string, waitMs: number): Promise<Reply | undefined> {
  const by = performance.now() + waitMs;
  for (;;) {
    const reply = await device.next(Math.max(0, by - performance.now()));
    if (reply === undefined || (reply.properties['correlationId'] ?? reply.properties['id']) === id) return reply;
  }
}

function differencesOf(reply: Reply, { properties, body, isModel }: LiveReply): string[] {
  const text = unpack(reply).toString('utf8');
  let seen: unknown;
  try {
    seen = JSON.parse(text);
  } catch {
    return [`the body is no JSON: ${JSON.stringify(text)}`];
  }
  return [
    ...differences(reply.properties, properties, 'properties'),
    ...differences(isModel ? narrowed(seen, body) : seen, body, 'body'),
  ];
}

/** Without members of an object that are not expected. */
function narrowed(seen: unknown, expected: Pattern): unknown {
  if (!isPlain(seen) || !isPlain(expected)) return seen;
  const kept = Object.entries(seen).filter(([key]) => Object.hasOwn(expected, key));
  return Object.fromEntries(kept.map(([key, value]) => [key, narrowed(value, expected[key] ?? null)]));
}

const isPlain = (value: unknown): value is Readonly<Record<string, Pattern>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RegExp);
