import type { Finding } from './checker.ts';
import type { Instance } from './instance.ts';
import { mostFatalEnds } from './keptProcess.ts';
import type { Stage } from './stage.ts';

export interface Closing {
  readonly stage: Pick<Stage, 'fatalEnds'> & {
    readonly instances: readonly Pick<Instance, 'start' | 'stop' | 'isUp'>[];
  };
  /** Until nothing is left that somebody would have to do again. */
  untilCovered(): Promise<void>;
  look(): Promise<Finding[]>;
}

/**
 * Stops the instances, each of them cleanly. A message that ends a process on purpose may come once more in that moment, to an
 * instance that reads a partition again. Then what was seen says nothing, and the stop was none: everything is done again.
 */
export async function stopCleanly({ stage, untilCovered, look }: Closing): Promise<Finding[]> {
  const { instances, fatalEnds } = stage;
  for (let left = mostFatalEnds; ; left -= 1) {
    await untilCovered();
    const before = fatalEnds.length;
    const [seen] = await Promise.allSettled([look()]);
    await Promise.all(instances.map((instance) => instance.stop()));
    if (fatalEnds.length === before || left === 0) {
      if (seen.status === 'rejected') throw seen.reason;
      return seen.value;
    }
    await Promise.all(instances.filter(({ isUp }) => !isUp()).map((instance) => instance.start()));
  }
}
