import { other } from '@device-messaging/telemetry/meter.ts';
import { dateOf } from '../concurrency/clocks.ts';
import type { Envelope } from '../protocol/envelope.ts';
import type { Generation, ReceivedMessage } from '../protocol/event.ts';
import type { Json } from '../protocol/json.ts';
import { firstOf, type Rejection } from '../protocol/rejection.ts';
import type { Reply } from '../protocol/reply.ts';
import type { Delivery, DropReason, RefusalReason, ResultCode } from '../protocol/vocabulary.ts';
import { backendNames, resultCodes } from '../protocol/vocabulary.ts';
import type { Log } from './log.ts';
import type { Meter } from './metrics.ts';
import { beginStep, beginTrace, type CallTimes, type Observation, type Step, type Traces } from './observation.ts';
import type { Taps } from './taps.ts';

export interface MessageRecordsOptions {
  readonly log: Log;
  readonly meter: Meter;
  readonly traces?: Traces | undefined;
  readonly taps?: Taps | undefined;
}

const none: readonly string[] = [];

export type MessageObservation = ReturnType<ReturnType<typeof createMessageRecords>['begin']>;

export function createMessageRecords({ log, meter, traces, taps }: MessageRecordsOptions) {
  const countHandled = meter.counter('device_messaging.handled.messages');
  const countReply = meter.counter('device_messaging.replies');
  const recordWork = meter.histogram('messaging.process.duration');
  const recordWait = meter.histogram('device_messaging.wait.duration');
  const recordReplies = meter.histogram('device_messaging.replies.duration');

  return {
    /**
     * @param name in the catalogue, never a text of the device; undefined for a message that is not there (D97)
     * @param readAt when it was read from the hub, as `performance.now()`; undefined for a dead letter
     * @returns its functions are called in their order, `ended` or `left` at last
     */
    begin(receivedMessage: ReceivedMessage, envelope: Envelope, name: string | undefined, readAt: number | undefined) {
      const { event, deviceId, origin, generation, redelivered } = receivedMessage;
      const { sequenceNumber } = event;
      const { traceId, traceparent, span } = beginTrace(
        traces,
        envelope.properties['traceparent'],
        envelope.eventId,
        // By OpenTelemetry's conventions for messaging consumers.
        () => ({
          name: `process ${name ?? 'unknown message'}`,
          kind: 'consumer',
          attributes: {
            'messaging.system': 'eventhubs',
            'messaging.operation.name': 'process',
            'messaging.operation.type': 'process',
            'messaging.destination.name': origin.hub,
            'messaging.destination.partition.id': origin.partition,
            'messaging.message.id': envelope.eventId,
            'messaging.message.conversation_id': envelope.correlationId,
            'messaging.eventhubs.message.enqueued_time': Math.floor(event.enqueuedTimeUtc.getTime() / 1000),
            'svc.device.id': deviceId,
            'svc.message.name': name,
            'svc.message.sequence_number': sequenceNumber,
            'svc.message.redelivered': redelivered || undefined,
          },
        }),
      );
      const publish = taps?.of(deviceId, { partition: origin.partition, sequenceNumber });
      const open = new Set<Step>();
      const times: CallTimes = {};
      // Times as `performance.now()`.
      const begunAt = performance.now();
      /** When the result was known: its handling without replies ended. */
      let answersAt = begunAt;
      let repliedAt = begunAt;
      // How long it waited before its handling began; not for a dead letter. The hub's clock and ours differ, and ours can be set: 0 instead of less.
      const hubMs = readAt === undefined ? undefined : Math.max(0, dateOf(readAt) - event.enqueuedTimeUtc.getTime());
      const laneMs = readAt === undefined ? undefined : begunAt - readAt; // behind others, since it was read
      let remarks = none;
      let sent = 0; // replies that the hub has accepted
      const dropped: { kind: Reply['kind']; device: string; reason: DropReason }[] = [];
      publish?.('begun', {
        message: envelope.name,
        generation,
        correlationId: envelope.correlationId,
        traceId,
        ack: envelope.ack,
        laneWaitMs: laneMs && Math.round(laneMs),
        redelivered,
        parkedBefore: receivedMessage.attempts ?? 0,
      });

      const observation = {
        begunAt,
        open,
        traceparent,
        span,
        times,
        publish,
        decoded(json: Json | undefined) {
          publish?.('decoded', { characters: json?.text.length }, { body: json?.text });
        },
        /** It waits for room for answers of the information model until the returned function is called (A10). */
        waitsForRoom() {
          const step = beginStep(open, 'call', 'read object model', backendNames.informationModel);
          step.waitsFor = 'room';
          publish?.('waits', { where: 'memory', for: 'room for answers', earlier: 0 });
          return () => void open.delete(step);
        },
        answers(found: readonly string[] = none) {
          remarks = found;
          answersAt = performance.now();
          repliedAt = answersAt;
        },
        reply(reply: Reply): ReturnType<typeof beginReply> {
          const { kind, deviceId: device } = reply;
          return beginReply(observation, reply, (delivery) => {
            repliedAt = performance.now();
            if (delivery === 'delivered') sent += 1;
            else if (delivery !== 'stopped') dropped.push({ kind, device, reason: delivery.dropped });
          });
        },
        parks(code: ResultCode) {
          const step = beginStep(open, 'parking', code, 'store of dead letters');
          return {
            /** The store is out: it is tried again later. */
            waits() {
              step.waitsFor = 'retry';
            },
            ended(isParked: boolean) {
              open.delete(step);
              if (isParked) publish?.('parked', { code });
            },
          };
        },
        /** @param failure of the request; an undelivered notification can be the reason */
        ended(failure: Rejection | undefined) {
          const known = name ?? other;
          const code = failure?.code ?? 'ok';
          const { fault } = resultCodes[code];
          countHandled(code, known, generation);
          recordWork((answersAt - begunAt) / 1000, known, generation, fault === 'nobody' ? '' : fault);
          if (hubMs !== undefined) recordWait(hubMs / 1000, 'hub');
          if (laneMs !== undefined) recordWait(laneMs / 1000, 'lane');
          for (let number = 0; number < sent; number += 1) countReply('delivered');
          for (const { reason } of dropped) countReply(reason);
          if (sent + dropped.length > 0) recordReplies((repliedAt - answersAt) / 1000);

          const ms = Math.round(answersAt - begunAt);
          const repliesMs = Math.round(repliedAt - answersAt);
          const isAlarming = dropped.length > 0 || code === 'internal_platform_error';
          // The one log line of a handled message (G5, D91).
          const line = {
            device: envelope.deviceId,
            message: envelope.name?.slice(0, 128),
            code,
            ...(failure && { details: failure.details }),
            correlationId: envelope.correlationId?.slice(0, 128),
            traceId,
            ack: envelope.ack,
            partition: origin.partition,
            sequenceNumber,
            hubWaitMs: hubMs,
            laneWaitMs: laneMs && Math.round(laneMs),
            ms,
            backends: rounded(times),
            replies: sent,
            repliesMs: sent + dropped.length > 0 ? repliesMs : undefined,
            ...(dropped.length > 0 && { dropped: dropped.slice(0, 10), droppedReplies: dropped.length }),
            ...(remarks.length > 0 && { remarks: firstOf(remarks) }),
          };
          log[isAlarming ? 'warn' : 'info'](line, 'handled');
          publish?.('handled', {
            ...{ code, details: failure?.details, ack: envelope.ack, ms, repliesMs, replies: sent },
            dropped: dropped.length > 0 ? dropped : undefined,
            backends: rounded(times) ?? {},
            remarks: remarks.length > 0 ? remarks : undefined,
          });
          if (span === undefined) return;
          // Only a failure that is not the device's is an error of the span.
          const isError = failure !== undefined && fault !== 'device';
          const replies = { 'svc.replies.sent': sent, 'svc.replies.dropped': dropped.length || undefined };
          span.end({ 'svc.code': code, ...replies }, isError ? { type: code, message: failure.details } : undefined);
        },
        left() {
          publish?.('left', { why: 'this instance no longer reads the partition' });
          span?.end({}, { type: 'released' });
        },
      };
      return observation;
    },
    /** A defect has ended the handling. */
    broke(generation: Generation, observation: Observation | undefined) {
      countHandled('internal_platform_error', other, generation);
      observation?.span?.end({}, { type: 'unforeseen' });
    },
  };
}

/** Undefined when there was no call. */
function rounded(backends: CallTimes): CallTimes | undefined {
  let own: CallTimes | undefined;
  for (const name in backends) {
    const times = backends[name as keyof CallTimes];
    if (times === undefined) continue;
    own ??= {};
    own[name as keyof CallTimes] = { calls: times.calls, attempts: times.attempts, ms: Math.round(times.ms) };
  }
  return own;
}

/** One reply with all its attempts: a step of its message, a span, and what followers are told. @param settled called at the end */
export function beginReply(observation: Observation, reply: Reply, settled: (delivery: Delivery) => void) {
  const { kind, deviceId: to, messageId, correlationId, properties, body } = reply;
  const { publish } = observation;
  const step = beginStep(observation.open, 'reply', kind, to);
  // By OpenTelemetry's conventions for messaging producers.
  const span = observation.span?.child(`send ${kind}`, 'producer', {
    'messaging.system': 'iothub',
    'messaging.operation.name': 'send',
    'messaging.operation.type': 'send',
    'messaging.destination.name': 'devicebound',
    'messaging.message.id': messageId,
    'messaging.message.conversation_id': correlationId,
    'messaging.message.body.size': Buffer.byteLength(body),
    'svc.device.id': to,
  });

  return {
    /** It waits for its `turn` to be sent, or for the `hub` to take it. */
    waits(what: 'turn' | 'hub') {
      step.waitsFor = what;
      if (what === 'turn') publish?.('reply waits', { kind, to, for: 'its turn' });
    },
    refused(reason: RefusalReason) {
      step.waitsFor = reason;
      publish?.('refused', { kind, to, reason });
      span?.event('attempt failed', { 'error.type': reason });
    },
    /** It waits for the full queue of its device. */
    sleeps() {
      const isBehind = step.waitsFor !== 'queue_full';
      step.waitsFor = 'queue_full';
      if (isBehind) publish?.('reply waits', { kind, to, for: 'earlier replies to the device, whose queue is full' });
    },
    ended(delivery: Delivery) {
      observation.open.delete(step);
      const type = typeof delivery === 'object' ? delivery.dropped : delivery;
      if (publish !== undefined) {
        const outcome = typeof delivery === 'object' ? `dropped: ${type}` : type;
        const ms = Math.round(performance.now() - step.since);
        const bytes = Buffer.byteLength(body);
        publish('reply', { kind, to, outcome, ms, messageId, correlationId, properties, bytes }, { body });
      }
      span?.end({}, type === 'delivered' ? undefined : { type });
      settled(delivery);
    },
  };
}
