/** What a backend answers to a harmless GET. */
export interface Health {
  readonly healthy: boolean;
  /** For so long, in ms, it asks not to be asked again. */
  readonly retryAfterMs: number;
}

/** Asks a backend itself whether it is out, when messages make it seem so and could be the cause themselves (B5). */
export interface HealthProbe {
  /** Asks, unless that is being done. */
  begin(failure: string): void;
  /** While it is being done: resolves when the answer is there. */
  untilAnswered(): Promise<void> | undefined;
  close(): void;
}

interface HealthProbeOptions {
  /** Asks for something harmless. Never rejects. */
  readonly probe: () => Promise<Health>;
  /** At least so many ms lie between two questions. */
  readonly everyMs: number;
  /** @param began when it was asked, by `performance.now()` */
  readonly answered: (health: Health, failure: string, began: number) => void;
}

/** Devices can provoke questions, but no more than one in each interval. */
export function createHealthProbe({ probe, everyMs, answered }: HealthProbeOptions): HealthProbe {
  let pending: Promise<void> | undefined;
  let next = 0;
  let timer: NodeJS.Timeout | undefined;
  let stopWaiting = () => {};

  async function ask(failure: string) {
    const early = next - performance.now();
    if (early > 0) {
      await new Promise<void>((resolve) => {
        stopWaiting = resolve;
        timer = setTimeout(resolve, early).unref();
      });
    }
    const began = performance.now();
    next = began + everyMs;
    const health = await probe();
    pending = undefined;
    answered(health, failure, began);
  }

  return {
    begin(failure) {
      pending ??= ask(failure);
    },
    untilAnswered: () => pending,
    close() {
      clearTimeout(timer);
      stopWaiting();
    },
  };
}
