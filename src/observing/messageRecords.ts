import { other } from 'telemetry/declaration.ts';
import type { Log } from '../log/log.ts';
import type { Meter } from '../metrics/meter.ts';
import type { Envelope } from '../protocol/envelope.ts';
import type { Arrival, Generation } from '../protocol/event.ts';
import type { Json } from '../protocol/json.ts';
import type { Rejection } from '../protocol/rejection.ts';
import type { Reply } from '../protocol/reply.ts';
import { backendNames, type ResultCode, resultCodes } from '../protocol/vocabulary.ts';
import type { Taps } from '../tap/taps.ts';
import { beginTrace, type Traces } from '../tracing/span.ts';
import { beginStep, type CallTimes, type Course } from './course.ts';
import {
  type EndedMessage,
  isAlarming,
  messageAttributesAtBegin,
  messageAttributesAtEnd,
  messageLineOf,
  messageSpanErrorOf,
  messageTapFieldsAtBegin,
  messageTapFieldsAtEnd,
  waitsOf,
} from './messageFields.ts';
import { beginReply, type ReplyCourse } from './replyCourse.ts';

/** Records messages: one log line each, their metrics, a span, and the events of the tap. */
export interface MessageRecords {
  /**
   * @param name in the catalogue, never a text of the device; undefined for a message that is not there (D97)
   * @param readAt when it was read from the hub, as `performance.now()`; undefined for a dead letter
   */
  begin(arrival: Arrival, envelope: Envelope, name: string | undefined, readAt: number | undefined): MessageCourse;
  /** A defect has ended the handling. */
  broke(generation: Generation, course: Course | undefined): void;
}

/** The functions are called in this order, `ended` or `left` at last. */
export interface MessageCourse extends Course {
  decoded(json: Json | undefined): void;
  /** It waits for room for answers of the information model until the returned function is called (A10). */
  waitsForRoom(): () => void;
  /** The result is known, and the replies begin. */
  answers(remarks?: readonly string[]): void;
  reply(reply: Reply): ReplyCourse;
  /** It is being written as a dead letter. */
  parks(code: ResultCode): ParkingCourse;
  /** @param failure of the request; an undelivered notification can be the reason */
  ended(failure: Rejection | undefined): void;
  /** This instance no longer handles the message. */
  left(): void;
}

/** The writing of a dead letter. */
export interface ParkingCourse {
  /** The store is out: it is tried again later. */
  waits(): void;
  ended(isParked: boolean): void;
}

export interface MessageRecordsOptions {
  readonly log: Log;
  readonly meter: Meter;
  /** Undefined: no spans are recorded. */
  readonly traces?: Traces | undefined;
  /** The followers of devices; none when omitted. */
  readonly taps?: Taps | undefined;
}

export function createMessageRecords({ log, meter, traces, taps }: MessageRecordsOptions): MessageRecords {
  const countHandled = meter.counter('device_messaging.handled.messages');
  const countReply = meter.counter('device_messaging.replies');
  const recordWork = meter.histogram('messaging.process.duration');
  const recordWait = meter.histogram('device_messaging.wait.duration');
  const recordReplies = meter.histogram('device_messaging.replies.duration');

  function measure(
    name: string,
    { arrival: { generation }, waits, ms, repliesMs, failure, sent, dropped }: EndedMessage,
  ) {
    const code = failure?.code ?? 'ok';
    const { fault } = resultCodes[code];
    countHandled(code, name, generation);
    recordWork(ms / 1000, name, generation, fault === 'nobody' ? '' : fault);
    if (waits !== undefined) {
      recordWait(waits.hubMs / 1000, 'hub');
      recordWait(waits.laneMs / 1000, 'lane');
    }
    for (let number = 0; number < sent; number += 1) countReply('delivered');
    for (const { reason } of dropped) countReply(reason);
    if (sent + dropped.length > 0) recordReplies(repliesMs / 1000);
  }

  return {
    begin(arrival, envelope, name, readAt) {
      const { event, deviceId, origin } = arrival;
      const { traceId, traceparent, span } = beginTrace(
        traces,
        envelope.properties['traceparent'],
        envelope.eventId,
        () => ({
          name: `process ${name ?? 'unknown message'}`,
          kind: 'consumer',
          attributes: messageAttributesAtBegin(arrival, envelope, name),
        }),
      );
      const publish = taps?.of(deviceId, { partition: origin.partition, sequenceNumber: event.sequenceNumber });
      const begunAt = performance.now();
      const waits = waitsOf(event, readAt, begunAt);
      publish?.('begun', messageTapFieldsAtBegin({ arrival, envelope, traceId, waits }));
      const times: CallTimes = {};
      const dropped: EndedMessage['dropped'][number][] = [];
      let sent = 0;
      let remarks: readonly string[] = [];
      let answersAt = begunAt;
      let repliedAt = begunAt;

      const course: MessageCourse = {
        begunAt,
        open: new Set(),
        traceparent,
        span,
        times,
        publish,
        decoded(json) {
          publish?.('decoded', { characters: json?.text.length }, { body: json?.text });
        },
        waitsForRoom() {
          const step = beginStep(course, 'call', 'read object model', backendNames.informationModel);
          step.waitsFor = 'room';
          publish?.('waits', { where: 'memory', for: 'room for answers', earlier: 0 });
          return () => course.open.delete(step);
        },
        answers(given = []) {
          remarks = given;
          answersAt = performance.now();
          repliedAt = answersAt;
        },
        reply(reply) {
          const { kind, deviceId: device } = reply;
          return beginReply(course, reply, (delivery) => {
            repliedAt = performance.now();
            if (delivery === 'delivered') sent += 1;
            else if (delivery !== 'stopped') dropped.push({ kind, device, reason: delivery.dropped });
          });
        },
        parks(code) {
          const step = beginStep(course, 'parking', code, 'store of dead letters');
          return {
            waits() {
              step.waitsFor = 'retry';
            },
            ended(isParked) {
              course.open.delete(step);
              if (isParked) publish?.('parked', { code });
            },
          };
        },
        ended(failure) {
          // In one literal: V8 takes microseconds to add so many members to a copy.
          const ended: EndedMessage = {
            arrival,
            envelope,
            traceId,
            waits,
            ms: answersAt - begunAt,
            repliesMs: repliedAt - answersAt,
            backends: times,
            remarks,
            failure,
            sent,
            dropped,
          };
          measure(name ?? other, ended);
          log[isAlarming(ended) ? 'warn' : 'info'](messageLineOf(ended), 'handled');
          publish?.('handled', messageTapFieldsAtEnd(ended));
          span?.end(messageAttributesAtEnd(ended), messageSpanErrorOf(ended));
        },
        left() {
          publish?.('left', { why: 'this instance no longer reads the partition' });
          span?.end({}, { type: 'released' });
        },
      };
      return course;
    },
    broke(generation, course) {
      countHandled('internal_platform_error', other, generation);
      course?.span?.end({}, { type: 'unforeseen' });
    },
  };
}
