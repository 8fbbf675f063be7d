import type { HubEvent } from '../protocol/event.ts';
import type { Budget } from './budget.ts';
import { createLanes } from './lanes.ts';
import { createWatermark } from './watermark.ts';

/** An event that is to be handled, and the device whose order it keeps. */
export interface Arriving {
  readonly event: HubEvent;
  readonly deviceId: string;
}

/** What a partition needs of the rest of the service. */
export interface PartitionOptions<A extends Arriving> {
  readonly budget: Budget;
  /** What is to be dispatched of an event; undefined when it is to be passed over. */
  arrivalOf(event: HubEvent): A | undefined;
  /**
   * Handles one message; never rejects. Answers whether it has been handled to its end.
   * @param charge adds to the bytes in work
   */
  dispatch(arrival: A, charge: (bytes: number) => void): Promise<boolean>;
  /** Writes down that everything up to and including the position has been handled. */
  checkpoint(position: Position): Promise<void>;
  readonly everyMessages: number;
  readonly everyMs: number;
  onCheckpointFailure(error: unknown): void;
}

/** A place in a partition, without the event that stands there. */
export type Position = Pick<HubEvent, 'sequenceNumber' | 'offset'>;

/** One partition of the hub while this instance owns it. */
export interface Partition {
  /** Takes events in hub order; answers when there is room for more. Never rejects for anything an event contains. */
  admit(events: readonly HubEvent[]): Promise<void>;
  /** Takes nothing more, waits for what is in work, up to `limitMs`, and writes the last checkpoint. Answers how many messages were left. */
  drain(limitMs: number): Promise<number>;
  /** Writes no checkpoint any more: ownership is lost. What is in work goes on. */
  abandon(): void;
}

export function createPartition<A extends Arriving>(options: PartitionOptions<A>): Partition {
  const { budget, arrivalOf, dispatch, checkpoint, everyMessages, everyMs, onCheckpointFailure } = options;
  const lanes = createLanes();
  const watermark = createWatermark<Position>();
  let written: Position | undefined;
  let running = 0;
  let unwritten = 0;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let owned = true;
  let closing = false;
  let idle: (() => void) | undefined;

  /** One write at a time; the newest safe event wins. */
  function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= (async () => {
      const safe = watermark.safe();
      if (!owned || safe === undefined || safe === written) return;
      unwritten = 0;
      await checkpoint(safe);
      written = safe;
    })()
      .catch(onCheckpointFailure)
      .finally(() => {
        writing = undefined;
      });
    return writing;
  }

  function progress() {
    unwritten += 1;
    if (unwritten >= everyMessages) void write();
    else timer ??= setTimeout(() => void write(), everyMs).unref();
  }

  async function admitOne(arrival: A) {
    const { event, deviceId } = arrival;
    const bytes = event.body instanceof Uint8Array ? event.body.byteLength : 0;
    const room = budget.take(bytes);
    if (room !== undefined) await room;
    if (closing) {
      budget.give(bytes);
      return;
    }
    const finish = watermark.begin({ sequenceNumber: event.sequenceNumber, offset: event.offset });
    let charged = bytes;
    const charge = (more: number) => {
      charged += more;
      budget.grow(more);
    };
    running += 1;
    lanes.run(deviceId, async () => {
      const handled = await dispatch(arrival, charge);
      if (handled) finish();
      running -= 1;
      budget.give(charged);
      progress();
      if (running === 0) idle?.();
    });
  }

  return {
    async admit(events) {
      for (const event of events) {
        if (closing) return;
        const arrival = arrivalOf(event);
        if (arrival) {
          await admitOne(arrival);
        } else {
          watermark.pass(event);
          progress();
        }
      }
    },
    async drain(limitMs) {
      closing = true;
      if (running > 0) {
        let limit: NodeJS.Timeout | undefined;
        await Promise.race([
          new Promise<void>((resolve) => {
            idle = resolve;
          }),
          new Promise<void>((resolve) => {
            limit = setTimeout(resolve, limitMs);
          }),
        ]);
        clearTimeout(limit);
      }
      if (writing !== undefined) await writing;
      await write();
      return watermark.pending();
    },
    abandon() {
      owned = false;
      closing = true;
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
