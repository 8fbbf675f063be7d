/** A process that can crash at any await point. */
export interface ProcessLife {
  /** Does something that others can see. The process may die before it, or after it without learning of the result. */
  step<T>(something: () => Promise<T>): Promise<T>;
  /** The same for what is done at once. It cannot be broken off, but no step follows it when the process has died. */
  touch<T>(something: () => T): T;
  readonly death: Promise<'died'>;
  /** How many points it came to. */
  points(): number;
  /** Ends it at a place that is no point of its own: what is under way comes to nothing. */
  kill(): void;
}

/** @param crashAt counts from 1; nothing of the process goes on after it */
export function crashingAt(crashAt: number): ProcessLife {
  let count = 0;
  let isDead = false;
  let die: (how: 'died') => void = () => {};
  const death = new Promise<'died'>((resolve) => {
    die = resolve;
  });
  const never = new Promise<never>(() => {});

  function kill() {
    isDead = true;
    die('died');
  }

  function reach() {
    if (isDead) return;
    count += 1;
    if (count === crashAt) kill();
  }

  async function point(): Promise<void> {
    reach();
    if (isDead) await never;
  }

  return {
    step: (something) => between(point, something),
    touch(something) {
      reach();
      const result = something();
      reach();
      return result;
    },
    death,
    points: () => count,
    kill,
  };
}

/** A point before it, and one before its result is learned. */
async function between<T>(point: () => Promise<void>, something: () => Promise<T>): Promise<T> {
  await point();
  const [outcome] = await Promise.allSettled([something()]);
  await point();
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

export const neverCrashing = (): ProcessLife => crashingAt(Number.POSITIVE_INFINITY);

/**
 * A process that does not die: at one point it is held up, and goes on later.
 * @param extent one step alone, as a request on a slow way; or all that the process does from there on, as by a pause
 */
export function delayedAt(at: number, ms: number, extent: 'step' | 'process'): ProcessLife {
  let count = 0;
  let delay: Promise<void> | undefined;
  async function point(): Promise<void> {
    count += 1;
    if (count === at) {
      delay = new Promise((resolve) => setTimeout(resolve, ms));
      await delay;
    } else if (extent === 'process') await delay;
  }
  return {
    step: (something) => between(point, something),
    touch: (something) => something(),
    death: new Promise(() => {}),
    points: () => count,
    kill() {},
  };
}
