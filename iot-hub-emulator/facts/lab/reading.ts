import type { EventPosition, ReceivedEventData } from '@azure/event-hubs';
import type { Lab } from './lab.ts';
import { type Refused, readRefusal } from './refusal.ts';
import { within } from './within.ts';

/** A receiver of one partition that was let in, or refused. */
export interface Entered {
  /** Resolves with the refusal, or undefined when the hub has let it in: it got events, or waited for one. */
  readonly opened: Promise<Refused | undefined>;
  /** Resolves when it is driven out later. */
  readonly ended: Promise<Refused>;
  readonly events: readonly ReceivedEventData[];
  /** Resolves when `enough` of the events have come. */
  until(enough: (events: readonly ReceivedEventData[]) => boolean): Promise<readonly ReceivedEventData[]>;
  close(): Promise<void>;
}

interface Options {
  readonly partition: string;
  readonly startPosition: EventPosition;
  readonly ownerLevel?: number;
  readonly track?: boolean;
}

/** The client reports an open link without asking the hub: only after this time without an error it counts as let in. */
const letInAfterSeconds = 2;

export function enter(lab: Lab, { partition, startPosition, ownerLevel, track }: Options): Entered {
  const client = lab.consumer();
  const events: ReceivedEventData[] = [];
  const checks = new Set<() => void>();
  let open: (refused?: Refused) => void = () => {};
  let end: (refused: Refused) => void = () => {};
  const opened = new Promise<Refused | undefined>((resolve) => {
    open = resolve;
  });
  const ended = new Promise<Refused>((resolve) => {
    end = resolve;
  });
  const subscription = client.subscribe(
    partition,
    {
      async processEvents(batch) {
        open();
        events.push(...batch);
        for (const check of checks) check();
      },
      async processError(error) {
        open(readRefusal(error));
        end(readRefusal(error));
      },
    },
    {
      startPosition,
      maxBatchSize: 50,
      maxWaitTimeInSeconds: letInAfterSeconds,
      skipParsingBodyAsJson: true,
      ...(ownerLevel !== undefined && { ownerLevel }),
      ...(track !== undefined && { trackLastEnqueuedEventProperties: track }),
    },
  );
  return {
    opened: within('a receiver’s event, or its refusal,', opened),
    ended,
    events,
    until: (enough) =>
      new Promise((resolve) => {
        const check = () => {
          if (!enough(events)) return;
          checks.delete(check);
          resolve(events);
        };
        checks.add(check);
        check();
      }),
    async close() {
      await subscription.close();
      await client.close();
    },
  };
}
