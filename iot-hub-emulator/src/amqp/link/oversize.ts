import type { Delivery, Receiver } from 'rhea';

// what a transfer counts at least, since an empty one takes memory as well
const leastTransfer = 64;
// of no message that rhea decodes
const unknownFormat = 0xffff_ffff;

/**
 * Refuse messages of more than `most` bytes: `refuse` is called once for each, as soon as that much of it has come. What
 * still comes of it is dropped, and no `message` is emitted, but `refused`.
 */
export function boundMessages(
  receiver: Receiver,
  most: number,
  refuse: (delivery: Delivery, size: number) => void,
): void {
  const state = receiver as unknown as ReceiverState;
  let incomplete: Incomplete | undefined;
  let refused: Incomplete | undefined;
  let bytes = 0;

  const dropRest = (): void => {
    const { dispatch } = state;
    state.dispatch = (event, context) => {
      if (event !== 'message') return dispatch.call(receiver, event, context);
      state.dispatch = dispatch;
      return dispatch.call(receiver, 'refused', context);
    };
  };
  const count = (delivery: Incomplete): void => {
    bytes += Math.max(leastTransfer, delivery.frames.at(-1)?.length ?? 0);
    if (bytes <= most) return;
    delivery.frames.length = 0;
    if (delivery === refused) return;
    refused = delivery;
    delivery.format = unknownFormat;
    dropRest();
    refuse(delivery, bytes);
  };

  // rhea stores a message of several transfers in this property, with each transfer anew; with the last it sets undefined
  Object.defineProperty(receiver, '_incomplete', {
    get: () => incomplete,
    set(delivery: Incomplete | undefined) {
      if (delivery !== undefined && delivery !== incomplete) bytes = 0;
      const current = delivery ?? incomplete;
      incomplete = delivery;
      if (current) count(current);
    },
  });
}

/** A message of which a part has come. */
interface Incomplete extends Omit<Delivery, 'format'> {
  format: number;
  readonly frames: (Buffer | undefined)[];
}

/** Parts of rhea's receivers that its typings leave out. */
interface ReceiverState {
  dispatch(event: string, context: unknown): boolean;
}
