const everyMs = 5_000;

export function showProgress(output: NodeJS.WriteStream, now: () => number) {
  let last = now();
  let isShown = false;

  /** Takes away what was said last: what is printed next is there to stay. */
  function clear(): void {
    if (isShown) output.write('\r\u001b[K');
    isShown = false;
    last = now();
  }

  return {
    /** Replaces what was said last; off a terminal it is said every few seconds. */
    say(text: string): void {
      if (output.isTTY) {
        clear();
        output.write(text.slice(0, (output.columns || 80) - 1));
        isShown = true;
      } else if (now() - last >= everyMs) {
        output.write(`${text}\n`);
        last = now();
      }
    },
    clear,
  };
}
