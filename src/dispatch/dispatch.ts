import { randomUUID } from 'node:crypto';
import { other } from 'telemetry/declaration.ts';
import type { Backends, BoundBackends } from '../backends/backends.ts';
import type { CallTimes } from '../backends/call.ts';
import { Cancelled, createDeadline } from '../backends/deadline.ts';
import type { Card, CardLimits } from '../card/card.ts';
import { checkedBody, checkedHeaders, jsonBody, knownMembers } from '../card/checks.ts';
import { createParking } from '../deadLetters/parking.ts';
import type { DeadLetters } from '../deadLetters/store.ts';
import type { MessageContext } from '../engine/partition/work.ts';
import type { Sender } from '../hub/replies/sender.ts';
import type { Log } from '../log/log.ts';
import { findCard } from '../messages/index.ts';
import type { Meter } from '../metrics/meter.ts';
import type { Arrival } from '../protocol/arrival.ts';
import { bytesHeld, bytesReceived, bytesToReserve } from '../protocol/body.ts';
import { resultCodes } from '../protocol/codes.ts';
import { createEnvelopeReader, type Envelope, type EnvelopeLimits, invalid } from '../protocol/envelope.ts';
import { eventId, type Generation } from '../protocol/event.ts';
import type { Json } from '../protocol/json.ts';
import { textProperties } from '../protocol/properties.ts';
import { Rejection } from '../protocol/rejection.ts';
import { derivedTraceId, newTraceparent } from '../protocol/trace.ts';
import { createSteps, type Steps } from '../tap/steps.ts';
import type { Taps } from '../tap/taps.ts';
import type { Traces } from '../tracing/span.ts';
import { waitsOf, writeHandled } from './handledLine.ts';
import { createHandledRecorder } from './handledMetrics.ts';
import { beginTrace, endHandled, type MessageTrace, untilHandled } from './messageSpan.ts';
import { answer, type Handled } from './respond.ts';
import { tellBegun, tellHandled } from './told.ts';
import { unknownName } from './unknownName.ts';

/** What is recorded of a message while it is handled. */
interface Followed {
  readonly times: CallTimes;
  readonly steps: Steps;
}

interface DispatchOptions {
  readonly backends: Backends;
  readonly sender: Pick<Sender, 'send'>;
  readonly meter: Meter;
  readonly deadLetters: Pick<DeadLetters, 'park' | 'remove'>;
  readonly log: Log;
  readonly limits: EnvelopeLimits & CardLimits & { readonly maxInflatedBytes: number };
  readonly now: () => Date;
  /** Undefined: no spans are recorded. */
  readonly traces?: Traces | undefined;
  /** Who follows which devices; nobody when omitted. */
  readonly taps?: Taps | undefined;
  /** Called before each step with an effect outside the process; it may end the handling of messages. */
  readonly beforeEffect?: (() => void) | undefined;
}

/**
 * Event → request → card → replies → one log line. Never rejects. @returns whether the message has been handled,
 * replies included. When false, the partition was released first, and the message must not be checkpointed (G1).
 */
export type Dispatch = (arrival: Arrival, context: MessageContext) => Promise<boolean>;

export function createDispatch(options: DispatchOptions): Dispatch {
  const { backends, sender, meter, log, limits, now, traces, taps, beforeEffect } = options;
  const recordHandled = createHandledRecorder(meter);
  const countHandled = meter.counter('device_messaging.handled.messages');
  const letters = createParking(options);
  const readEnvelope = createEnvelopeReader(limits);

  function dispatch(arrival: Arrival, context: MessageContext): Promise<boolean> {
    const { event, generation, deviceId, origin } = arrival;
    const id = eventId(event, origin, deviceId);
    const read = readEnvelope(generation, textProperties(event.properties ?? {}), deviceId, id, arrival.attempts);
    const trace = beginTrace(traces, arrival, read.envelope);
    const handling = handledIn(trace, read, arrival, context);
    return trace.span === undefined ? handling : untilHandled(trace.span, handling);
  }

  async function handledIn(
    trace: MessageTrace,
    { envelope, refusal }: ReturnType<typeof readEnvelope>,
    arrival: Arrival,
    context: MessageContext,
  ): Promise<boolean> {
    const { traceId, traceparent, span } = trace;
    const card = envelope.name === undefined ? undefined : findCard(arrival.generation, envelope.name);
    const { partition } = arrival.origin;
    const tell = taps?.of(arrival.deviceId, { partition, sequenceNumber: arrival.event.sequenceNumber });
    const steps = createSteps(tell);
    context.begins?.(steps);
    const waits = waitsOf(arrival.event, context.readAt, steps.begunAt);
    if (tell) tellBegun(tell, arrival, envelope, { traceId, waits });
    const began = performance.now();
    const times: CallTimes = {};
    const handled = context.parkUnexecuted
      ? { envelope, card, body: undefined, json: undefined, outcome: undefined, failure: notExecuted(arrival) }
      : await handle({ envelope, card, refusal }, arrival, context, trace, { times, steps });
    const leave = () => {
      tell?.('left', { why: 'this instance no longer reads the partition' });
      return false;
    };
    if (handled === undefined) return leave();
    const isOurFault = handled.failure !== undefined && resultCodes[handled.failure.code].fault === 'service';
    if (isOurFault && context.ended.aborted) return leave();
    const ended = performance.now();
    context.answering(replyBytes(handled));
    const answered = await answer(handled, sender, context.ended, now(), { span, steps, beforeEffect });
    if (answered === undefined) return leave();
    const repliesMs = performance.now() - ended;
    // Only now: another instance may handle a message of a released partition, and a replay would then undo later messages.
    if (handled.failure && isOurFault) {
      await letters.park(arrival, handled.failure, traceparent);
      tell?.('parked', { code: handled.failure.code });
    } else if (arrival.redelivered) await letters.release(arrival); // C1
    const ms = ended - began;
    const course = { traceId, waits, ms, repliesMs, backends: times };
    recordHandled(arrival, handled, answered, course);
    writeHandled(log, arrival, handled, answered, course); // rounds the times
    if (tell) tellHandled(tell, handled, answered, course);
    if (span !== undefined) endHandled(span, answered);
    return true;
  }

  /** Undefined when this instance no longer handles the message. */
  async function handle(
    { envelope, card, refusal }: { envelope: Envelope; card: Card | undefined; refusal: Rejection | undefined },
    { event, redelivered }: Arrival,
    { releaseBytes, waiting, ended }: MessageContext,
    trace: MessageTrace,
    followed: Followed,
  ): Promise<Handled | undefined> {
    let json: Json | undefined;
    let known: ReturnType<typeof knownMembers>;
    let reserved = bytesToReserve(event, limits.maxInflatedBytes);
    const keep = (bytes: number) => {
      releaseBytes(reserved - bytes);
      reserved = bytes;
    };
    try {
      if (refusal) throw refusal;
      if (card === undefined) throw unknownName(envelope.generation, envelope.name ?? '');
      const headers = checkedHeaders(card, envelope);
      json = jsonBody(card, envelope, event.body, limits.maxInflatedBytes);
      followed.steps.tell?.('decoded', { characters: json?.text.length }, { body: json?.text });
      keep(bytesHeld(event, json));
      known = knownMembers(card, json);
      const body = checkedBody(card, envelope, headers, json, known);
      const request = { envelope, headers, json, body, redelivered };
      const bound = bind(envelope, trace, followed, ended, waiting);
      const outcome = await card.handle(request, bound, limits);
      return { envelope, card, body: known, json, outcome, failure: outcome.failure };
    } catch (error) {
      if (error instanceof Cancelled) return undefined;
      const failure = inGeneration(rejectionOf(error, envelope.deviceId), envelope.generation);
      return { envelope, card, body: known, json, outcome: undefined, failure };
    } finally {
      keep(bytesReceived(event));
    }
  }

  const bind = (
    { deviceId, correlationId, eventId, timeoutSeconds }: Envelope,
    { traceparent, span }: MessageTrace,
    followed: Followed,
    ended: AbortSignal,
    onOutage: () => void,
  ): BoundBackends =>
    backends.bind({
      deviceId,
      correlationId: correlationId ?? eventId,
      traceparent,
      span,
      idempotencySeed: eventId,
      deadline: createDeadline(timeoutSeconds, ended, beforeEffect),
      ...followed,
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
      'message was the only one in flight at three violent ends: parked without being executed',
    );
    return new Rejection('internal_platform_error', `the message is not executed again, incident ${incident}`);
  }

  return async (arrival, context) => {
    try {
      return await dispatch(arrival, context);
    } catch (error) {
      await letters.park(arrival, rejectionOf(error, arrival.deviceId), newTraceparent(derivedTraceId(randomUUID())));
      countHandled('internal_platform_error', other, arrival.generation);
      return true;
    }
  };
}

/** Estimated memory until the replies are sent: notifications hold whole models, acknowledgements repeat parts of the body. */
const replyBytes = ({ outcome, json }: Handled): number =>
  (outcome?.notifications ?? []).reduce((bytes, { body }) => bytes + body.length, 1_000 + (json?.place.end ?? 0));

/** The backend clients throw `validation_error`; the code for the device depends on the generation (result codes). */
const inGeneration = (rejection: Rejection, generation: Generation): Rejection =>
  rejection.code === 'validation_error'
    ? new Rejection(invalid(generation), rejection.details, rejection.fields)
    : rejection;
