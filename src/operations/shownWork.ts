import type { BackendName, Backends } from '../backends/backends.ts';
import type { DeviceWork } from '../engine/partition/contents.ts';
import type { Step } from '../observing/course.ts';
import { ageOf, secondsSince, shownTime } from './ages.ts';

type WorkOfPartition = DeviceWork & { readonly partition: string };

/** What a device waits for, in words and with the times since when. */
export function shownWork(
  { device, partition, messages, sequenceNumber, readAt, begunAt, needs, state, steps }: WorkOfPartition,
  backends: ReturnType<Backends['states']>,
  notFetching: ReadonlySet<string>,
) {
  const out = needs.filter((name) => backends[name as BackendName]?.circuit === 'open');
  const hasTokens = backends.tokenEndpoint?.circuit !== 'open';
  const doing = steps.map((step) => ({ waitsFor: inWords(step), ...ageOf(step.since) }));
  return {
    device,
    partition,
    messages,
    oldest: { sequenceNumber, readAt: shownTime(readAt), seconds: secondsSince(readAt) },
    state,
    waitsFor: doing.length > 0 ? doing.map(({ waitsFor }) => waitsFor).join('; ') : waits(state, out, hasTokens),
    ...(begunAt !== undefined && { begun: ageOf(begunAt) }),
    ...(doing.length > 0 && { steps: doing }),
    ...(notFetching.has(device) && { doesNotFetch: true }),
  };
}

function waits(state: WorkOfPartition['state'], out: readonly string[], hasTokens: boolean): string {
  switch (state) {
    case 'in flight':
      return 'nothing: it is being handled';
    case 'waits for room':
      return 'room: too many messages are in flight (DELIVERY_MAX_MESSAGES, DELIVERY_MAX_BYTES)';
    case 'waits for backends':
      return hasTokens || out.length > 0
        ? `a backend that is out: ${out.join(', ')}`
        : 'an access token for the backends: the token endpoint is out (BACKENDS_TOKEN_URL)';
    case 'waits for its turn':
      return 'its turn: it may have ended the process before (G4)';
  }
}

/** What a step waits for. */
export function inWords({ kind, what, of, waitsFor }: Readonly<Step>): string {
  if (kind === 'reply')
    return `${replyWaits[waitsFor] ?? `another attempt to send, after ${waitsFor}`} (${what} to ${of})`;
  return `${callWaits[waitsFor] ?? waitsFor} ${of} (${what})`;
}

const replyWaits: Readonly<Record<string, string>> = {
  turn: 'its turn to be sent, at the rate of the hub',
  hub: 'the hub to take a reply',
  queue_full: 'room in the queue of the device, which does not fetch its messages',
};

const callWaits: Readonly<Record<string, string>> = {
  connection: 'a free connection to the',
  room: 'room for answers, which other messages keep until their replies are sent, of the',
  circuit: 'the end of the outage of the',
  token: 'an access token for the',
  answer: 'an answer of the',
  retry: 'the next attempt at the',
};
