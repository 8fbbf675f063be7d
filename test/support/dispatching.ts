import { createRouter } from 'iot-hub-emulator/http';
import { informationModelRoutes } from '../../sandbox/backends/informationModel/informationModelRoutes.ts';
import { principalManagerRoutes } from '../../sandbox/backends/principalManager/principalManagerRoutes.ts';
import { typeRegistryRoutes } from '../../sandbox/backends/typeRegistry/typeRegistryRoutes.ts';
import { openWorld } from '../../sandbox/backends/world/world.ts';
import type { BackendName } from '../../src/backends/backends.ts';
import type { CardLimits } from '../../src/card/card.ts';
import type { MessageContext } from '../../src/engine/work.ts';
import type { ReplyObserver } from '../../src/hub/replies/sender.ts';
import { createLog } from '../../src/observing/log.ts';
import { type MeterWithReadings, summaryOf } from '../../src/observing/metrics.ts';
import type { Traces } from '../../src/observing/observation.ts';
import type { Taps } from '../../src/observing/taps.ts';
import type { HubEvent } from '../../src/protocol/event.ts';
import { fits, type Reply } from '../../src/protocol/reply.ts';
import type { Delivery } from '../../src/protocol/vocabulary.ts';
import type { DeadLetter } from '../../src/stores/deadLetter.ts';
import { breachOfContract } from './asyncapi.ts';
import { validateExchange } from './contracts.ts';
import { type ReceivedCall, type Script, scriptedBackend } from './scriptedBackend.ts';
import { forever, receivedMessageOf, wire } from './wiring.ts';

export interface Dispatched {
  readonly handled: boolean;
  readonly replies: readonly Reply[];
  readonly parked: readonly DeadLetter[];
  /** Ids of the dead letters that were to be removed. */
  readonly removed: readonly string[];
  readonly logged: readonly Record<string, unknown>[];
  readonly logText: string;
  readonly counters: Readonly<Record<string, number>>;
  readonly meter: MeterWithReadings;
  readonly calls: readonly ReceivedCall[];
  /** Bytes of the budget that it did not need any more, in the order in which they were given back. */
  readonly givenBack: readonly number[];
  /** Bytes that its replies were said to take, each time that it was said. */
  readonly answering: readonly number[];
  /** What was left charged each time it waited for the store of dead letters, in bytes. */
  readonly parking: readonly number[];
}

interface Circumstances {
  /** What becomes of a reply. Undefined leaves it to its size, as the hub does. */
  readonly deliver?: (reply: Reply, observer: ReplyObserver | undefined) => Delivery | Promise<Delivery> | undefined;
  /** Instead of the usual ones. */
  readonly limits?: Partial<CardLimits> | undefined;
  /** The message comes from a time when another instance may have handled it. */
  readonly redelivered?: boolean | undefined;
  /** Aborted when the partition is taken from us. */
  readonly ended?: AbortSignal | undefined;
  /** When it was read from the hub, in ms since 1970; undefined for a dead letter. */
  readonly readAt?: number;
  /** The message is not to be executed any more. */
  readonly parkUnexecuted?: boolean | undefined;
  /** What the dead-letter store does with a letter besides keeping it. */
  readonly park?: ((letter: DeadLetter) => Promise<void>) | undefined;
  /** What the dead-letter store does when a dead letter is to be removed. */
  readonly remove?: ((id: string) => Promise<void>) | undefined;
  /** Where its spans begin; by default none are recorded. */
  readonly traces?: Traces | undefined;
  /** Who follows which devices; nobody by default. */
  readonly taps?: Taps | undefined;
  /** Called before each call and each reply. */
  readonly beforeEffect?: (() => void) | undefined;
  /** Sees what the message does from its beginning on. */
  readonly begins?: MessageContext['begins'];
  /** What it asks of its partition. */
  readonly context?: Partial<MessageContext>;
}

/** Runs one event through the whole service but hub and backends. */
export async function dispatchEvent(
  event: HubEvent,
  script: Script,
  circumstances: Circumstances = {},
): Promise<Dispatched> {
  const { deliver = () => undefined, limits, redelivered = false, ended = forever.ended } = circumstances;
  const { park, remove, parkUnexecuted = false, readAt, traces, taps, beforeEffect, begins, context } = circumstances;
  const backend = scriptedBackend(script);
  const lines: string[] = [];
  const log = createLog('debug', { write: (line) => void lines.push(line) });
  const replies: Reply[] = [];
  const parked: DeadLetter[] = [];
  const removed: string[] = [];
  const { backends, meter, dispatch } = wire({
    adapter: backend.adapter,
    async send(reply, _ended, observer) {
      replies.push(reply);
      return deliver(reply, observer) ?? (fits(reply) ? 'delivered' : { dropped: 'too_large' });
    },
    deadLetters: {
      async park(letter) {
        parked.push(letter);
        await park?.(letter);
      },
      async remove(id) {
        removed.push(id);
        await remove?.(id);
      },
    },
    ...{ log, limits, traces },
    ...(taps && { taps }),
    beforeEffect,
  });
  const receivedMessage = receivedMessageOf(event, redelivered);
  const givenBack: number[] = [];
  const answering: number[] = [];
  const parking: number[] = [];
  const handled = await dispatch(receivedMessage, {
    ...forever,
    ended,
    parkUnexecuted,
    ...(readAt !== undefined && { readAt }),
    ...(begins && { begins }),
    charge: {
      ...forever.charge,
      shrink: (bytes) => void givenBack.push(bytes),
      aside(left, kept = 0) {
        if (left !== undefined) answering.push(left + kept);
      },
      parks: (bytes) => void parking.push(bytes),
    },
    ...context,
  });
  await backends.close();
  backend.verify();
  const counters = summaryOf(meter);
  const offences = backend.calls.flatMap(breachesOf);
  if (counters.succeeded > 0) offences.push(...breachOfContract({ direction: 'deviceToCloud', ...asSent(event) }));
  offences.push(...replies.filter(fits).flatMap((reply) => breachOfContract({ direction: 'cloudToDevice', ...reply })));
  if (offences.length > 0) throw new Error(`calls, answers or messages break a contract\n  ${offences.join('\n  ')}`);
  return {
    ...{ handled, replies, parked, removed },
    logged: lines.map((line) => JSON.parse(line)),
    ...{ logText: lines.join(''), counters, meter, calls: backend.calls, givenBack, answering, parking },
  };
}

const asSent = ({ properties = {}, body }: HubEvent) => ({
  properties,
  body: body instanceof Uint8Array ? body : String(body),
});

export function backendOf(path: string): BackendName {
  if (path.startsWith('/devices')) return 'principalManager';
  return path.startsWith('/modelDefinitions') ? 'typeRegistry' : 'informationModel';
}

/** What a scripted exchange breaks of the backends' OpenAPI documents, and the route that the sandbox lacks for it. Garbage on purpose is left alone. */
function breachesOf({ call, headers, body, reply }: ReceivedCall): string[] {
  if (!Array.isArray(reply)) return [];
  const [method = '', path = ''] = call.split(' ');
  const [status, answer] = reply;
  if (status >= 500 || (typeof answer === 'string' && !answer.startsWith('{'))) return [];
  const exchange = {
    ...{ backend: backendOf(path), method, path, requestHeaders: headers, requestBody: body, status },
    responseBody: answer,
  } as const;
  const faults = validateExchange(exchange).map((fault) => `${call}: ${fault}`);
  return [...faults, ...missingRoute(exchange.backend, method, path)];
}

const world = openWorld(undefined, false);
const routers = {
  informationModel: createRouter(informationModelRoutes(world)),
  typeRegistry: createRouter(typeRegistryRoutes(world)),
  principalManager: createRouter(principalManagerRoutes(world)),
};

/** Says which route the sandbox's backend lacks for this call; empty when it has one. */
function missingRoute(backend: BackendName, method: string, path: string): string[] {
  const [pathname = ''] = path.split('?', 1);
  if (routers[backend](method, pathname).route) return [];
  return [`sandbox/backends/${backend}/routes.ts has no route for ${method} ${pathname}: the stories cannot run`];
}
