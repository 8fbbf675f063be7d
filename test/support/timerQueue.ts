/** A timer of a clock that a test or a simulation moves. */
export interface QueuedTimer {
  readonly id: number;
  /** When it ends, in milliseconds. */
  at: number;
  /** It begins again after its end; undefined when it ends once. */
  readonly everyMs: number | undefined;
  readonly call: () => void;
}

const isBefore = (one: QueuedTimer, other: QueuedTimer) =>
  one.at < other.at || (one.at === other.at && one.id < other.id);

/** Timers in the order in which they end: of those that end together, the one that began first. */
export function createTimerQueue() {
  /** The first to end comes last. */
  let timers: QueuedTimer[] = [];
  let count = 0;

  function placeOf(timer: QueuedTimer): number {
    let [from, to] = [0, timers.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (isBefore(timer, timers[middle] as QueuedTimer)) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  function insert(timer: QueuedTimer) {
    timers.splice(placeOf(timer), 0, timer);
  }

  function stop(timer: QueuedTimer) {
    const place = placeOf(timer);
    if (timers[place] === timer) timers.splice(place, 1);
  }

  return {
    start(at: number, everyMs: number | undefined, call: () => void): QueuedTimer {
      count += 1;
      const timer = { id: count, at, everyMs, call };
      insert(timer);
      return timer;
    },
    stop,
    /** Takes out the timer that ends first, and says when; undefined when that is later than `until`. An interval begins again. */
    next(until: number) {
      const timer = timers.at(-1);
      if (timer === undefined || timer.at > until) return undefined;
      timers.pop();
      const endsAt = timer.at;
      if (timer.everyMs !== undefined) insert(Object.assign(timer, { at: endsAt + timer.everyMs }));
      return { endsAt, timer };
    },
    /** It ends at that time instead, also when it was taken out. */
    postpone(timer: QueuedTimer, at: number) {
      stop(timer);
      insert(Object.assign(timer, { at }));
    },
    clear() {
      timers = [];
    },
  };
}
