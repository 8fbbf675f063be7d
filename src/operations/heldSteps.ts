import type { Step } from '../observing/course.ts';
import { secondsSince } from './ages.ts';

/** What decides whether a step can end within the drain of a stop. */
export interface DrainConditions {
  readonly drainSeconds: number;
  /** Whether the token endpoint gives tokens. */
  readonly hasTokens: boolean;
  /** Whether there is a connection for replies. */
  readonly isConnected: boolean;
  /** Replies that the hub takes in a second; undefined while its rate is not known. */
  readonly ratePerSecond: number | undefined;
}

type OpenStep = Readonly<Step>;

/**
 * The steps that do not end within a drain, as far as the service knows, and what each waits for. Other steps may take
 * longer, too: how long a backend takes to answer is not known.
 */
export function heldSteps(steps: readonly OpenStep[], conditions: DrainConditions): ReadonlyMap<OpenStep, string> {
  const held = new Map<OpenStep, string>();
  for (const step of steps) {
    const cause = step.kind === 'call' ? causeOfCall(step, conditions) : causeOfReply(step, conditions);
    if (cause !== undefined) held.set(step, cause);
  }
  for (const step of withoutTurn(steps, conditions)) if (!held.has(step)) held.set(step, slowHub);
  return held;
}

function causeOfCall({ of, since, waitsFor }: OpenStep, { hasTokens, drainSeconds }: DrainConditions) {
  if (waitsFor === 'circuit') return `the end of the outage of the ${of}`;
  if (waitsFor === 'token' && !hasTokens) return 'an access token: the token endpoint is out';
  return secondsSince(since) > drainSeconds ? `the ${of}, for longer than a drain takes` : undefined;
}

const slowHub = 'a turn to be sent, at the rate of the hub';

/** Replies that wait for full queues are counted with the messages that sleep. */
function causeOfReply({ kind, waitsFor }: OpenStep, { isConnected }: DrainConditions) {
  if (kind === 'parking') return waitsFor === 'retry' ? 'the store of dead letters' : undefined;
  if (waitsFor === 'queue_full') return undefined;
  if (!isConnected) return 'a connection to the hub, for replies';
  return waitsFor === 'quota' || waitsFor === 'suspended' ? 'the hub, which takes no replies for now' : undefined;
}

/** Replies that get no turn within a drain: the later ones of those that wait, or all while the hub takes none. */
function withoutTurn(steps: readonly OpenStep[], { ratePerSecond, drainSeconds }: DrainConditions): OpenStep[] {
  const inTurn = steps.filter(({ waitsFor }) => waitsFor === 'turn');
  if (steps.some(({ waitsFor }) => waitsFor === 'quota' || waitsFor === 'suspended')) return inTurn;
  const turns = ratePerSecond === undefined ? inTurn.length : Math.floor(ratePerSecond * drainSeconds);
  return inTurn.sort((one, other) => one.since - other.since).slice(turns);
}
