import { randomUUID } from 'node:crypto';
import { nearest } from '@device-messaging/telemetry/text.ts';
import type { Backends } from '../backends/backends.ts';
import { Cancelled, createDeadline } from '../backends/deadline.ts';
import type { Card, CardLimits } from '../card/card.ts';
import { checkedBody, checkedHeaders, jsonBody, knownMembers } from '../card/checks.ts';
import type { MessageContext } from '../engine/work.ts';
import type { Sender } from '../hub/replies/sender.ts';
import { catalogue, findCard } from '../messages/index.ts';
import { createMessageRecords, type MessageCourse, type MessageRecordsOptions } from '../observing/messageRecords.ts';
import { bytesHeld, bytesReceived, bytesToReserve } from '../protocol/body.ts';
import { createEnvelopeReader, type Envelope, type EnvelopeLimits, invalid } from '../protocol/envelope.ts';
import { type Arrival, eventId, type Generation } from '../protocol/event.ts';
import { derivedTraceId, newTraceparent } from '../protocol/ids.ts';
import type { Json } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';
import { resultCodes } from '../protocol/vocabulary.ts';
import { createParking, type ParkingOptions } from '../stores/parking.ts';
import { createMessageRoom, type MessageRoom } from './messageRoom.ts';
import { answer, type HandledRequest, type RepliesResult } from './respond.ts';

interface DispatchOptions extends MessageRecordsOptions, ParkingOptions {
  readonly backends: Backends;
  readonly sender: Pick<Sender, 'send'>;
  readonly log: MessageRecordsOptions['log'];
  readonly limits: EnvelopeLimits & CardLimits & { readonly maxInflatedBytes: number };
  /** Called before each step with an effect outside the process; it may end the handling of messages. */
  readonly beforeEffect?: (() => void) | undefined;
}

/** A message in work. */
interface Message {
  readonly arrival: Arrival;
  readonly context: MessageContext;
  readonly course: MessageCourse;
  readonly envelope: Envelope;
  readonly card: Card | undefined;
  readonly refusal: Rejection | undefined;
}

/**
 * Event → request → card → replies → one log line. Never rejects. @returns whether the message has been handled,
 * replies included. When false, the partition was released first, and the message must not be checkpointed (G1).
 */
export type Dispatch = (arrival: Arrival, context: MessageContext) => Promise<boolean>;

export function createDispatch(options: DispatchOptions): Dispatch {
  const { backends, sender, log, limits, now, beforeEffect } = options;
  const messages = createMessageRecords(options);
  const letters = createParking(options);
  const readEnvelope = createEnvelopeReader(limits);

  /** Undefined when this instance no longer handles the message. */
  async function answered(message: Message): Promise<RepliesResult | undefined> {
    const { arrival, context, course, envelope, card } = message;
    const room = createMessageRoom(context, course, limits.maxSyncBytes);
    const handled = context.parkUnexecuted
      ? { envelope, card, body: undefined, json: undefined, outcome: undefined, failure: notExecuted(arrival) }
      : await handle(message, room);
    if (handled === undefined || (isOurs(handled.failure) && context.ended.aborted)) return undefined;
    course.answers(handled.outcome?.remarks);
    context.answering(bytesReceived(arrival.event) + ackBytes(handled) + room.keeps(notificationBytes(handled)));
    return answer(handled, { sender, course, context, now: now(), beforeEffect, handedOver: room.handedOver });
  }

  async function handledToEnd(message: Message): Promise<boolean> {
    const { arrival, context, course } = message;
    const replies = await answered(message);
    if (replies === undefined) return false;
    const { failure, settledElsewhere } = replies;
    // Only now: another instance may handle a message of a released partition, and a replay would then undo later messages.
    if (isOurs(failure)) {
      if (!(await park(arrival, failure, context, course))) return false;
    } else if (arrival.redelivered) await letters.release(arrival); // C1
    if (settledElsewhere) {
      context.nextMayBegin();
      if (!(await settledElsewhere())) return false;
    }
    course.ended(failure);
    return true;
  }

  /** Returns false when this instance no longer handles the message. */
  async function park(
    arrival: Arrival,
    failure: Rejection,
    { ended, parking, failed }: MessageContext,
    course: Pick<MessageCourse, 'parks' | 'traceparent'> | undefined,
  ): Promise<boolean> {
    const step = course?.parks(failure.code);
    const traceparent = course?.traceparent ?? newTraceparent(derivedTraceId(randomUUID()));
    const result = await letters.park(arrival, failure, traceparent, {
      ended,
      waits() {
        step?.waits();
        parking(bytesReceived(arrival.event));
      },
    });
    if (result === 'left') return false;
    step?.ended(result === 'parked');
    failed();
    return true;
  }

  /** Undefined when this instance no longer handles the message. */
  async function handle(
    { arrival, context, course, envelope, card, refusal }: Message,
    room: MessageRoom,
  ): Promise<HandledRequest | undefined> {
    const { event, redelivered } = arrival;
    const { releaseBytes, waiting, ended } = context;
    let json: Json | undefined;
    let known: ReturnType<typeof knownMembers>;
    try {
      if (refusal) throw refusal;
      if (card === undefined) throw unknownName(envelope.generation, envelope.name ?? '');
      const headers = checkedHeaders(card, envelope);
      json = jsonBody(card, envelope, event, limits.maxInflatedBytes);
      course.decoded(json);
      releaseBytes(bytesToReserve(event, limits.maxInflatedBytes) - bytesHeld(event, json));
      known = knownMembers(card, json);
      const body = checkedBody(card, envelope, headers, json, known);
      const deadline = createDeadline(envelope.timeoutSeconds, ended, beforeEffect);
      const { deviceId, eventId, correlationId = eventId } = envelope;
      const bound = backends.bind({
        ...{ deviceId, correlationId, idempotencySeed: eventId },
        ...{ deadline, course, onOutage: waiting },
      });
      const { keeps } = card;
      const request = {
        ...{ envelope, headers, json, body, redelivered },
        room: room.forCard(deadline, () => releaseBytes(keeps)),
      };
      const outcome = await card.handle(request, bound, limits);
      return { envelope, card, body: known, json, outcome, failure: outcome.failure };
    } catch (error) {
      if (error instanceof Cancelled) return undefined;
      const failure = inGeneration(rejectionOf(error, envelope.deviceId), envelope.generation);
      return { envelope, card, body: known, json, outcome: undefined, failure };
    }
  }

  /** Any other error is a defect of the service: the log has it, and the device learns its incident id. */
  function rejectionOf(error: unknown, deviceId: string): Rejection {
    if (error instanceof Rejection) return error;
    const incident = randomUUID();
    log.error({ err: error, incident, device: deviceId }, 'unforeseen failure');
    return new Rejection('internal_platform_error', `internal error, incident ${incident}`);
  }

  /** G4: the device learns only an incident id. */
  function notExecuted({ event, deviceId, origin }: Arrival): Rejection {
    const incident = randomUUID();
    const { sequenceNumber } = event;
    log.error(
      { incident, device: deviceId, partition: origin.partition, sequenceNumber },
      'message was the only one in flight at three unclean shutdowns: parked without being executed',
    );
    return new Rejection('internal_platform_error', `the message is not executed again, incident ${incident}`);
  }

  return async (arrival, context) => {
    let course: MessageCourse | undefined;
    try {
      const { event, generation, deviceId, origin, attempts } = arrival;
      const id = eventId(event, origin, deviceId);
      const { envelope, refusal } = readEnvelope(generation, event.properties ?? {}, deviceId, id, attempts);
      const card = envelope.name === undefined ? undefined : findCard(generation, envelope.name);
      course = messages.begin(arrival, envelope, card?.name, context.readAt);
      context.begins?.(course);
      const isHandled = await handledToEnd({ arrival, context, course, envelope, card, refusal });
      if (!isHandled) course.left();
      return isHandled;
    } catch (error) {
      const isParked = await park(arrival, rejectionOf(error, arrival.deviceId), context, undefined);
      if (isParked) messages.broke(arrival.generation, course);
      else course?.left();
      return isParked;
    }
  };
}

const isOurs = (failure: Rejection | undefined): failure is Rejection =>
  failure !== undefined && resultCodes[failure.code].fault === 'service';

/** Estimated memory of the acknowledgement, which repeats parts of the body. */
const ackBytes = ({ json }: HandledRequest): number => 1_000 + (json?.end ?? 0);

const notificationBytes = ({ outcome }: HandledRequest): number =>
  (outcome?.notifications ?? []).reduce((bytes, { body }) => bytes + body.length, 0);

/** The backend clients throw `validation_error`; the code for the device depends on the generation (result codes). */
const inGeneration = (rejection: Rejection, generation: Generation): Rejection =>
  rejection.code === 'validation_error' ? new Rejection(invalid(generation), rejection.details) : rejection;

/** Most characters of a name that are repeated. */
const longest = 64;

/** The rejection of an unknown `action` or `eventType` (R8), with the nearest known name. */
function unknownName(generation: Generation, name: string): Rejection {
  const names = catalogue.filter((card) => card.generation === generation).map((card) => card.name);
  const property = generation === 'V2' ? 'action' : 'eventType';
  const details = `${property} ${shown(name)} is not one of this service; the nearest is ${nearest(name, names)}`;
  return new Rejection('operation_not_supported', details);
}

/** In quotes, without invisible and control characters. */
function shown(name: string): string {
  const plain = name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\ufffd').replaceAll('"', "'");
  return `"${plain.length <= longest ? plain : `${plain.slice(0, longest).toWellFormed()}…`}"`;
}
