import { Cancelled, type Deadline } from '../backends/deadline.ts';
import type { KeepingRoom } from '../backends/sending.ts';
import type { MessageContext } from '../engine/work.ts';
import type { MessageCourse } from '../observing/messageRecords.ts';

/**
 * The room of one message for answers that it keeps beyond what its card has reserved (A10).
 * @param most bytes that one message may keep
 */
export function createMessageRoom(
  { takeForAnswers, giveFromAnswers, waiting }: MessageContext,
  course: Pick<MessageCourse, 'waitsForRoom'>,
  most: number,
) {
  let hasAll = false;
  let coming: Promise<void> | undefined;

  async function untilTaken(taking: Promise<boolean>, deadline: Deadline): Promise<void> {
    const ended = course.waitsForRoom();
    waiting();
    try {
      if (!(await deadline.untimed(taking))) throw new Cancelled('the partition is no longer read by this instance');
      hasAll = true;
    } finally {
      ended();
    }
  }

  return {
    /** @param drop gives back what was reserved for the card: from now on the message keeps answers in this room, or none */
    forCard: (deadline: Deadline, drop: () => void): KeepingRoom => ({
      takeAll() {
        if (hasAll || coming !== undefined) return hasAll ? undefined : coming;
        const taking = takeForAnswers(most);
        drop();
        if (taking === undefined) {
          hasAll = true;
          return undefined;
        }
        coming = untilTaken(taking, deadline);
        coming.catch(() => {}); // a walk that has failed meanwhile does not wait for it
        return coming;
      },
    }),
    /**
     * Its handling is over, and it keeps so many bytes of answers.
     * @returns how many of them are not charged here
     */
    keeps(bytes: number): number {
      if (!hasAll) return bytes;
      giveFromAnswers(most - bytes);
      return 0;
    },
    /** So many of them are not kept any more. */
    handedOver(bytes: number): void {
      if (hasAll) giveFromAnswers(bytes);
    },
  };
}

export type MessageRoom = ReturnType<typeof createMessageRoom>;
