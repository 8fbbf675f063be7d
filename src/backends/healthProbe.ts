/** The result of a harmless GET. */
export interface Health {
  readonly healthy: boolean;
  /** `Retry-After` of the backend, in ms. */
  readonly retryAfterMs: number;
}

/** Checks whether a backend is down when messages fail and may themselves be the cause (B5). */
export interface HealthProbe {
  /** Starts a probe unless one runs. */
  begin(failure: string): void;
  /** Undefined when no probe runs. Otherwise resolves when it ends. */
  untilAnswered(): Promise<void> | undefined;
  close(): void;
}

interface HealthProbeOptions {
  /** Sends a harmless request. Never rejects. */
  readonly probe: () => Promise<Health>;
  /** Least time between two probes, in ms. */
  readonly everyMs: number;
  /** @param began start of the probe, as `performance.now()` */
  readonly answered: (health: Health, failure: string, began: number) => void;
}

/** Devices can cause at most one probe in each interval. */
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

interface ProbeSchedule {
  readonly probe: () => Promise<Health>;
  /** First and longest interval, in ms. */
  readonly probeMs: number;
  readonly maxProbeMs: number;
  readonly foundHealthy: () => void;
}

/**
 * Probes at growing intervals until the backend is healthy (B5). Each interval is as long as `Retry-After` asks at least,
 * but the longest interval at most.
 * @param retryAfterMs of the failure
 * @returns a function that ends it
 */
export function probeUntilHealthy(
  { probe, probeMs, maxProbeMs, foundHealthy }: ProbeSchedule,
  retryAfterMs: number,
): () => void {
  let timer: NodeJS.Timeout;
  let isOver = false;

  function probeIn(ms: number, retryAfterMs: number) {
    const wait = Math.max(ms, Math.min(retryAfterMs, maxProbeMs));
    timer = setTimeout(async () => {
      const health = await probe();
      if (isOver) return;
      if (health.healthy) foundHealthy();
      else probeIn(Math.min(maxProbeMs, ms * 2), health.retryAfterMs);
    }, wait).unref();
  }

  probeIn(probeMs, retryAfterMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
