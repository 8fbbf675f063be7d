import { randomUUID } from 'node:crypto';
import { nearest } from '@device-messaging/telemetry/text.ts';
import type { Backends } from '../backends/backends.ts';
import { Cancelled, createDeadline, type Deadline } from '../backends/deadline.ts';
import type { CardLimits } from '../card/card.ts';
import { checkedBody, checkedHeaders, jsonBody, knownMembers } from '../card/checks.ts';
import type { MessageContext } from '../engine/work.ts';
import { catalogue, findCard } from '../messages/index.ts';
import type { MessageObservation, MessageRecordsOptions } from '../observing/messageRecords.ts';
import { createMessageRecords } from '../observing/messageRecords.ts';
import { bytesHeld, bytesReceived, bytesToReserve } from '../protocol/body.ts';
import { createEnvelopeReader, type EnvelopeLimits, invalid } from '../protocol/envelope.ts';
import { eventId, type Generation, type ReceivedMessage } from '../protocol/event.ts';
import { derivedTraceId, newTraceparent } from '../protocol/ids.ts';
import { quoted, Rejection } from '../protocol/rejection.ts';
import { resultCodes } from '../protocol/vocabulary.ts';
import { createParking, type ParkingOptions } from '../stores/parking.ts';
import { type AnswerOptions, answer, type Message } from './respond.ts';

interface DispatchOptions extends MessageRecordsOptions, ParkingOptions, AnswerOptions {
  readonly backends: Backends;
  readonly log: MessageRecordsOptions['log'];
  readonly limits: EnvelopeLimits & CardLimits & { readonly maxInflatedBytes: number };
}

/** Event → request → card → replies → one log line. Never rejects. False when the partition was released first: no checkpoint may have it (G1). */
export type Dispatch = (receivedMessage: ReceivedMessage, context: MessageContext) => Promise<boolean>;

export function createDispatch(options: DispatchOptions): Dispatch {
  const { backends, log, limits, beforeEffect } = options;
  const messages = createMessageRecords(options);
  const letters = createParking(options);
  const readEnvelope = createEnvelopeReader(limits);

  /** Returns false when this instance no longer handles the message; so do the functions below. */
  async function handledToEnd(message: Message): Promise<boolean> {
    const { receivedMessage, context, observation } = message;
    if (context.parkUnexecuted) message.failure = notExecuted(receivedMessage);
    else if (!(await handled(message))) return false;
    if (isOurs(message.failure) && context.ended.aborted) return false;
    observation.answers(message.outcome?.remarks);
    const ackBytes = 1_000 + (message.json?.end ?? 0); // estimated: it repeats parts of the body
    const notifications = message.outcome?.notifications ?? [];
    const bytes = notifications.reduce((sum, { body }) => sum + body.length, 0);
    context.charge.aside(bytesReceived(receivedMessage.event) + ackBytes, bytes);
    const replies = await answer(message, options);
    if (replies === undefined) return false;
    // Only now: another instance may handle a message of a released partition, and a replay would then undo later messages.
    if (isOurs(message.failure)) {
      if (!(await parked(receivedMessage, message.failure, context, observation))) return false;
    } else if (receivedMessage.redelivered) await letters.release(receivedMessage); // C1
    if (replies.settledElsewhere) {
      context.nextMayBegin();
      if (!(await replies.settledElsewhere())) return false;
    }
    observation.ended(message.failure);
    return true;
  }

  async function parked(
    receivedMessage: ReceivedMessage,
    failure: Rejection,
    { ended, charge, failed }: MessageContext,
    observation?: Pick<MessageObservation, 'parks' | 'traceparent'>,
  ): Promise<boolean> {
    const step = observation?.parks(failure.code);
    const traceparent = observation?.traceparent ?? newTraceparent(derivedTraceId(randomUUID()));
    const result = await letters.park(receivedMessage, failure, traceparent, {
      ended,
      waits() {
        step?.waits();
        charge.parks(bytesReceived(receivedMessage.event));
      },
    });
    if (result === 'left') return false;
    step?.ended(result === 'parked');
    failed();
    return true;
  }

  async function handled(message: Message): Promise<boolean> {
    const { receivedMessage, context, observation, envelope, card } = message;
    const { event, redelivered } = receivedMessage;
    const { charge, ended } = context;
    try {
      if (message.failure) throw message.failure;
      if (card === undefined) throw unknownName(envelope.generation, envelope.name ?? '');
      const headers = checkedHeaders(card, envelope);
      const json = jsonBody(card, envelope, event, limits.maxInflatedBytes);
      message.json = json;
      observation.decoded(json);
      charge.shrink(bytesToReserve(event, limits.maxInflatedBytes) - bytesHeld(event, json));
      const known = knownMembers(card, json);
      message.body = known;
      const body = checkedBody(card, envelope, headers, json, known);
      const deadline = createDeadline(envelope.timeoutSeconds, ended, beforeEffect);
      const { deviceId, eventId, correlationId = eventId } = envelope;
      const bound = backends.bind({
        ...{ deviceId, correlationId, idempotencySeed: eventId },
        ...{ deadline, observation, onOutage: () => charge.aside() },
      });
      const room = createRoom(message, deadline, card.keeps, limits.maxSyncBytes);
      message.outcome = await card.handle({ envelope, headers, json, body, redelivered, room }, bound, limits);
      message.failure = message.outcome.failure;
    } catch (error) {
      if (error instanceof Cancelled) return false;
      message.failure = inGeneration(rejectionOf(error, envelope.deviceId), envelope.generation);
    }
    return true;
  }

  /** Any other error is a defect of the service: the log has it, and the device learns its incident id. */
  function rejectionOf(error: unknown, deviceId: string): Rejection {
    if (error instanceof Rejection) return error;
    const incident = randomUUID();
    log.error({ err: error, incident, device: deviceId }, 'unforeseen failure');
    return new Rejection('internal_platform_error', `internal error, incident ${incident}`);
  }

  /** G4: the device learns only an incident id. */
  function notExecuted({ event, deviceId: device, origin: { partition } }: ReceivedMessage): Rejection {
    const incident = randomUUID();
    const fields = { incident, device, partition, sequenceNumber: event.sequenceNumber };
    log.error(fields, 'message was the only one in flight at three unclean shutdowns: parked without being executed');
    return new Rejection('internal_platform_error', `the message is not executed again, incident ${incident}`);
  }

  return async (receivedMessage, context) => {
    let observation: MessageObservation | undefined;
    try {
      const { event, generation, deviceId, origin, attempts } = receivedMessage;
      const id = eventId(event, origin, deviceId);
      const { envelope, refusal } = readEnvelope(generation, event.properties ?? {}, deviceId, id, attempts);
      const card = envelope.name === undefined ? undefined : findCard(generation, envelope.name);
      observation = messages.begin(receivedMessage, envelope, card?.name, context.readAt);
      context.begins?.(observation);
      const isHandled = await handledToEnd({ receivedMessage, context, observation, envelope, card, failure: refusal });
      if (!isHandled) observation.left();
      return isHandled;
    } catch (error) {
      const isParked = await parked(receivedMessage, rejectionOf(error, receivedMessage.deviceId), context);
      if (isParked) messages.broke(receivedMessage.generation, observation);
      else observation?.left();
      return isParked;
    }
  };
}

const isOurs = (failure: Rejection | undefined): failure is Rejection =>
  failure !== undefined && resultCodes[failure.code].fault === 'service';

/** The backend clients throw `validation_error`; the code for the device depends on the generation (result codes). */
const inGeneration = (rejection: Rejection, generation: Generation): Rejection =>
  rejection.code === 'validation_error' ? new Rejection(invalid(generation), rejection.details) : rejection;

/** The rejection of an unknown `action` or `eventType` (R8), with the nearest known name. */
function unknownName(generation: Generation, name: string): Rejection {
  const names = catalogue.filter((card) => card.generation === generation).map((card) => card.name);
  const property = generation === 'V2' ? 'action' : 'eventType';
  const details = `${property} ${quoted(name)} is not one of this service; the nearest is ${nearest(name, names)}`;
  return new Rejection('operation_not_supported', details);
}

/** Where a message keeps answers beyond what its card has reserved (A10): all of them, from then on. @param most bytes that it may keep */
function createRoom({ context, observation }: Message, deadline: Deadline, reserved: number, most: number) {
  const { charge } = context;
  let isAsked = false;
  /** The wait for it, if there is one. */
  let coming: Promise<void> | undefined;

  async function untilTaken(taking: Promise<boolean>): Promise<void> {
    const ended = observation.waitsForRoom();
    charge.aside();
    try {
      if (!(await deadline.untimed(taking))) throw new Cancelled('the partition is no longer read by this instance');
      coming = undefined;
    } finally {
      ended();
    }
  }

  return {
    takeAll() {
      if (isAsked) return coming;
      isAsked = true;
      charge.shrink(reserved);
      const taking = charge.takeForAnswers(most);
      coming = taking && untilTaken(taking);
      coming?.catch(() => {}); // a walk that has failed meanwhile does not wait for it
      return coming;
    },
  };
}
