import { other } from 'telemetry/declaration.ts';
import type { Meter } from '../metrics/meter.ts';
import type { Arrival } from '../protocol/arrival.ts';
import { resultCodes } from '../protocol/codes.ts';
import type { Course } from './handledLine.ts';
import type { Answered, Handled } from './respond.ts';

/** Records a handled message. Names come from the catalogue, never from the device (D97). */
export type RecordHandled = (
  arrival: Pick<Arrival, 'generation'>,
  handled: Pick<Handled, 'card'>,
  answered: Answered,
  course: Pick<Course, 'waits' | 'ms' | 'repliesMs'>,
) => void;

export function createHandledRecorder(meter: Meter): RecordHandled {
  const countHandled = meter.counter('device_messaging.handled.messages');
  const countReply = meter.counter('device_messaging.replies');
  const recordWork = meter.histogram('messaging.process.duration');
  const recordWait = meter.histogram('device_messaging.wait.duration');
  const recordReplies = meter.histogram('device_messaging.replies.duration');

  return ({ generation }, { card }, { failure, sent, dropped }, { waits, ms, repliesMs }) => {
    const code = failure?.code ?? 'ok';
    const name = card?.name ?? other;
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
  };
}
