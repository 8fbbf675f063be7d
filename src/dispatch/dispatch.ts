import { randomUUID } from 'node:crypto';
import type { Backends, BoundBackends } from '../backends/backends.ts';
import { Cancelled, createDeadline, type Deadline } from '../backends/deadline.ts';
import type { Card, CardLimits } from '../card/card.ts';
import { checkedBody, checkedHeaders, jsonBody, knownMembers } from '../card/checks.ts';
import { createParking, type ParkingOptions } from '../deadLetters/parking.ts';
import type { MessageContext } from '../engine/partition/work.ts';
import type { Sender } from '../hub/replies/sender.ts';
import { catalogue, findCard } from '../messages/index.ts';
import { createMessageRecords, type MessageCourse, type MessageRecordsOptions } from '../observing/messageRecords.ts';
import { bytesHeld, bytesReceived, bytesToReserve } from '../protocol/body.ts';
import { createEnvelopeReader, type Envelope, type EnvelopeLimits, invalid } from '../protocol/envelope.ts';
import { type Arrival, eventId, type Generation } from '../protocol/event.ts';
import { derivedTraceId, newTraceparent } from '../protocol/ids.ts';
import type { Json } from '../protocol/json.ts';
import { nearest, Rejection } from '../protocol/rejection.ts';
import { resultCodes } from '../protocol/vocabulary.ts';
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

/** A message before its card. */
interface ReadEvent {
  readonly envelope: Envelope;
  readonly card: Card | undefined;
  readonly refusal: Rejection | undefined;
}

interface AnsweredMessage extends RepliesResult {
  /** The failure of a message that is to be parked. */
  readonly ourFault: Rejection | undefined;
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

  function read({ event, generation, deviceId, origin, attempts }: Arrival): ReadEvent {
    const id = eventId(event, origin, deviceId);
    const { envelope, refusal } = readEnvelope(generation, event.properties ?? {}, deviceId, id, attempts);
    return { envelope, refusal, card: envelope.name === undefined ? undefined : findCard(generation, envelope.name) };
  }

  /** Undefined when this instance no longer handles the message. */
  async function handledAndAnswered(
    message: ReadEvent,
    arrival: Arrival,
    context: MessageContext,
    course: MessageCourse,
  ): Promise<AnsweredMessage | undefined> {
    const { envelope, card } = message;
    const room = createMessageRoom(context, course, limits.maxSyncBytes);
    const handled = context.parkUnexecuted
      ? { envelope, card, body: undefined, json: undefined, outcome: undefined, failure: notExecuted(arrival) }
      : await handle(message, arrival, context, course, room);
    if (handled === undefined) return undefined;
    const { failure } = handled;
    const ourFault = failure && resultCodes[failure.code].fault === 'service' ? failure : undefined;
    if (ourFault && context.ended.aborted) return undefined;
    course.answers(handled.outcome?.remarks);
    context.answering(bytesReceived(arrival.event) + ackBytes(handled) + room.keeps(notificationBytes(handled)));
    const { handedOver } = room;
    const answered = await answer(handled, { sender, course, context, now: now(), beforeEffect, handedOver });
    return answered && { ...answered, ourFault };
  }

  async function handledToEnd(
    message: ReadEvent,
    arrival: Arrival,
    context: MessageContext,
    course: MessageCourse,
  ): Promise<boolean> {
    const answered = await handledAndAnswered(message, arrival, context, course);
    if (answered === undefined) return false;
    const { failure, ourFault } = answered;
    // Only now: another instance may handle a message of a released partition, and a replay would then undo later messages.
    if (ourFault) {
      if (!(await park(arrival, ourFault, context, course))) return false;
    } else if (arrival.redelivered) await letters.release(arrival); // C1
    if (answered.settledElsewhere) {
      context.nextMayBegin();
      if (!(await answered.settledElsewhere())) return false;
    }
    course.ended(failure);
    return true;
  }

  /** Returns false when this instance no longer handles the message. */
  async function park(
    arrival: Arrival,
    failure: Rejection,
    { ended, parking }: MessageContext,
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
    if (result !== 'left') step?.ended(result === 'parked');
    return result !== 'left';
  }

  /** Undefined when this instance no longer handles the message. */
  async function handle(
    { envelope, card, refusal }: ReadEvent,
    { event, redelivered }: Arrival,
    { releaseBytes, waiting, ended }: MessageContext,
    course: MessageCourse,
    room: MessageRoom,
  ): Promise<HandledRequest | undefined> {
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
      const { keeps } = card;
      const request = {
        ...{ envelope, headers, json, body, redelivered },
        room: room.forCard(deadline, () => releaseBytes(keeps)),
      };
      const outcome = await card.handle(request, bind(envelope, course, deadline, waiting), limits);
      return { envelope, card, body: known, json, outcome, failure: outcome.failure };
    } catch (error) {
      if (error instanceof Cancelled) return undefined;
      const failure = inGeneration(rejectionOf(error, envelope.deviceId), envelope.generation);
      return { envelope, card, body: known, json, outcome: undefined, failure };
    }
  }

  const bind = (
    { deviceId, correlationId, eventId }: Envelope,
    course: MessageCourse,
    deadline: Deadline,
    onOutage: () => void,
  ): BoundBackends =>
    backends.bind({
      deviceId,
      correlationId: correlationId ?? eventId,
      idempotencySeed: eventId,
      deadline,
      course,
      onOutage,
    });

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
    const place = { device: deviceId, partition: origin.partition, sequenceNumber: event.sequenceNumber };
    log.error(
      { incident, ...place },
      'message was the only one in flight at three unclean shutdowns: parked without being executed',
    );
    return new Rejection('internal_platform_error', `the message is not executed again, incident ${incident}`);
  }

  return async (arrival, context) => {
    let course: MessageCourse | undefined;
    try {
      const message = read(arrival);
      course = messages.begin(arrival, message.envelope, message.card?.name, context.readAt);
      context.begins?.(course);
      const isHandled = await handledToEnd(message, arrival, context, course);
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

/** Estimated memory of the acknowledgement, which repeats parts of the body. */
const ackBytes = ({ json }: HandledRequest): number => 1_000 + (json?.end ?? 0);

const notificationBytes = ({ outcome }: HandledRequest): number =>
  (outcome?.notifications ?? []).reduce((bytes, { body }) => bytes + body.length, 0);

/** The backend clients throw `validation_error`; the code for the device depends on the generation (result codes). */
const inGeneration = (rejection: Rejection, generation: Generation): Rejection =>
  rejection.code === 'validation_error'
    ? new Rejection(invalid(generation), rejection.details, rejection.fields)
    : rejection;

/** Most characters of a name that are repeated. */
const longest = 64;

/** The rejection of an unknown `action` or `eventType` (R8), with the nearest known name. */
export function unknownName(generation: Generation, name: string): Rejection {
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
