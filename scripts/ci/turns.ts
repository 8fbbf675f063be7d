/** The words of one of several that speak at the same time. */
export interface Turn {
  say(words: Uint8Array | string): void;
  /** The next one is heard: first what it has said so far. */
  end(): void;
}

interface Speaker {
  readonly kept: (Uint8Array | string)[];
  hasEnded: boolean;
}

/** Lets them be heard one after the other, in the order in which they began: the first at once, the others when those before them have ended. */
export function createTurns(write: (words: Uint8Array | string) => void): { begin(): Turn } {
  const speakers: Speaker[] = [];

  function hearNext(): void {
    while (speakers[0]?.hasEnded) {
      speakers.shift();
      for (const words of speakers[0]?.kept.splice(0) ?? []) write(words);
    }
  }

  return {
    begin() {
      const own: Speaker = { kept: [], hasEnded: false };
      speakers.push(own);
      return {
        say(words) {
          if (own === speakers[0]) write(words);
          else own.kept.push(words);
        },
        end() {
          own.hasEnded = true;
          hearNext();
        },
      };
    },
  };
}
