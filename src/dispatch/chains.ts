import type { MessageContext } from '../engine/partition/work.ts';

/**
 * Replies of a message that are sent one after the other: those to its own device, or those to another one (A12). The message sleeps
 * while every chain that is left waits for the full queue of its device (C4).
 */
export interface Chain {
  /** @param giveUp ends the waiting */
  sleeps(giveUp: () => void): void;
  /** Its reply is tried again, or is settled. */
  wakes(): void;
  end(): void;
}

/** @returns begins a chain */
export function createChains({ sleeps, wakes }: Pick<MessageContext, 'sleeps' | 'wakes'>): () => Chain {
  let open = 0;
  let isAsleep = false;
  const givingUp = new Map<Chain, () => void>();

  function look() {
    const wasAsleep = isAsleep;
    isAsleep = open > 0 && givingUp.size === open;
    if (isAsleep && !wasAsleep)
      sleeps(() => {
        for (const giveUp of [...givingUp.values()]) giveUp();
      });
    if (!isAsleep && wasAsleep) wakes();
  }

  return () => {
    const chain: Chain = {
      sleeps(giveUp) {
        givingUp.set(chain, giveUp);
        look();
      },
      wakes() {
        if (givingUp.delete(chain)) look();
      },
      end() {
        open -= 1;
        look();
      },
    };
    open += 1;
    look();
    return chain;
  };
}
