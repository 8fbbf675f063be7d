/**
 * A *lane* is the queue of one device: its work runs one after the other, in the order in which it came, while the
 * lanes of other devices run beside it (G2). A lane exists only while there is work in it.
 */
export interface Lanes {
  /** Queues work behind what the lane already holds. The work must not reject. */
  run(key: string, work: () => Promise<void>): void;
  /** Work that the lane holds, what is running included. */
  length(key: string): number;
}

/** @param ended is called when a lane has become shorter */
export function createLanes(ended: () => void = () => {}): Lanes {
  const lanes = new Map<string, (() => Promise<void>)[]>();

  async function drain(key: string, lane: (() => Promise<void>)[]) {
    for (let work = lane[0]; work !== undefined; work = lane[0]) {
      await work();
      lane.shift();
      if (lane.length === 0) lanes.delete(key);
      ended();
    }
  }

  return {
    run(key, work) {
      const lane = lanes.get(key);
      if (lane) {
        lane.push(work);
        return;
      }
      const fresh = [work];
      lanes.set(key, fresh);
      void drain(key, fresh);
    },
    length: (key) => lanes.get(key)?.length ?? 0,
  };
}
