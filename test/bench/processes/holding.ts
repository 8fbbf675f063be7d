/** Lets what answers calls hold its answers back. */
export function createHolding() {
  let isHolding = false;
  const held: (() => void)[] = [];
  let wanted = 0;
  let allHeld = () => {};
  let calling: Promise<unknown> = Promise.resolve();
  return {
    /** Gives the answer, at once or when it is released. */
    answer(give: () => void) {
      if (!isHolding) return give();
      held.push(give);
      if (held.length === wanted) allHeld();
    },
    /** Makes so many calls; resolves when all of them are held. */
    async hold(calls: number, call: (nth: number) => Promise<void>): Promise<void> {
      isHolding = true;
      wanted = calls;
      const all = new Promise<void>((resolve) => {
        allHeld = resolve;
      });
      calling = Promise.all(Array.from({ length: calls }, (_, index) => call(index)));
      await Promise.race([all, calling]);
    },
    async release(): Promise<void> {
      isHolding = false;
      for (const give of held.splice(0)) give();
      await calling;
    },
  };
}
