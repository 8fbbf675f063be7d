import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningProgram } from './program.ts';
import type { Stage } from './stage.ts';

/** Without any progress for so long the program is taken for stuck: longer than another instance's ownership lasts. */
const stuckMs = 90_000;

/**
 * Until every reply to what was sent is here; where none is due, until every message has been handed over.
 * @param onProgress called with how many replies or messages that were, whenever there are more
 * @throws Error with the end of its log when the program has ended, or nothing has happened for a long time
 */
export async function untilAnswered(
  hub: Stage['hub'],
  { requireAlive, logFile }: RunningProgram,
  onProgress: (done: number) => void = () => {},
): Promise<void> {
  let [seen, seenAt] = [0, performance.now()];
  for (;;) {
    requireAlive();
    const { done, isAll } = await hub.call<{ done: number; isAll: boolean }>('progress');
    if (done !== seen) {
      [seen, seenAt] = [done, performance.now()];
      onProgress(done);
    } else if (performance.now() - seenAt > stuckMs) {
      throw new Error(`nothing has happened for ${stuckMs / 1000} s:\n${readFileSync(logFile, 'utf8').slice(-3_000)}`);
    }
    if (isAll) return;
    await sleep(20);
  }
}
