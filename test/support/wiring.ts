import type { AxiosAdapter } from 'axios';
import { createBackends } from '../../src/backends/backends.ts';
import type { CardLimits } from '../../src/card/card.ts';
import { createDispatch } from '../../src/dispatch/dispatch.ts';
import { noCharge } from '../../src/engine/charge.ts';
import type { MessageContext } from '../../src/engine/work.ts';
import type { Sender } from '../../src/hub/replies/sender.ts';
import { createLog, createTroubles, type Log } from '../../src/observing/log.ts';
import { createMeter } from '../../src/observing/metrics.ts';
import type { Traces } from '../../src/observing/observation.ts';
import type { Taps } from '../../src/observing/taps.ts';
import { classify, type HubEvent, type ReceivedMessage, senderOf } from '../../src/protocol/event.ts';
import { messageLimits } from '../../src/settings/constants.ts';
import type { DeadLetters } from '../../src/stores/deadLetterStore.ts';
import { settings as defaults } from './environment.ts';

/** The moment at which every test message is answered. */
export const now = new Date('2026-01-02T03:04:06.789Z');

interface Around {
  readonly settings?: Parameters<typeof createBackends>[0];
  /** In place of the network. */
  readonly adapter?: AxiosAdapter;
  /** No chance, unless told otherwise. */
  readonly random?: () => number;
  readonly send: Sender['send'];
  /** No message should fail through the side of the service, unless told otherwise. */
  readonly deadLetters?: Pick<DeadLetters, 'park' | 'remove'>;
  readonly log?: Log;
  /** For the log while something is wrong: how much waits. */
  readonly amounts?: () => object;
  readonly limits?: Partial<CardLimits> | undefined;
  /** None, unless told otherwise. */
  readonly traces?: Traces | undefined;
  /** Who follows which devices: nobody, unless told otherwise. */
  readonly taps?: Taps;
  /** Called before each call and each reply. */
  readonly beforeEffect?: (() => void) | undefined;
}

/** Puts together all that handles a message between the hub and the network. */
export function wire({
  settings = defaults.backends,
  adapter,
  random = () => 0,
  send,
  deadLetters = noLetters,
  log = createLog('silent'),
  amounts,
  limits,
  traces,
  taps,
  beforeEffect,
}: Around) {
  const meter = createMeter();
  const backends = createBackends(settings, log, { ...(adapter && { adapter }), random, amounts, meter });
  const dispatch = createDispatch({
    ...{ backends, sender: { send }, meter, deadLetters, log, troubles: createTroubles(log) },
    limits: { ...messageLimits, ...limits },
    now: () => now,
    ...{ traces, taps, beforeEffect },
  });
  return { backends, meter, dispatch };
}

const noLetters = {
  park: () => Promise.reject(new Error('nothing fails through the side of the service')),
  remove: () => Promise.reject(new Error('nothing is handled twice')),
};

/** A partition that nobody takes from us. */
export const forever: MessageContext = {
  charge: noCharge,
  nextMayBegin() {},
  failed() {},
  ended: new AbortController().signal,
};

/** The event as the reader hands it on; one that the reader skips ends the test. */
export function receivedMessageOf(event: HubEvent, redelivered = false): ReceivedMessage {
  const [generation, deviceId] = [classify(event), senderOf(event)];
  if (generation === undefined || deviceId === undefined) throw new Error('this event never reaches dispatch');
  return { event, generation, deviceId, origin: { hub: 'hub', partition: '0' }, redelivered };
}
