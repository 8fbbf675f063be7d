import { pause } from '../concurrency/waiting.ts';
import { ownLimitOf } from '../observing/diagnosis.ts';
import type { Troubles } from '../observing/log.ts';

/** Of a backend, or of the token endpoint, for operators. */
export interface BackendState {
  readonly circuit: 'closed' | 'open';
  /** While the circuit is open; since when, as `performance.now()`. */
  readonly outage: { readonly since: number; readonly failure: string } | undefined;
  /** In use, and attempts that wait for one. */
  readonly connections: { readonly inUse: number; readonly waiting: number };
  /** Age of the oldest request under way; 0 when none is. */
  readonly oldestMs: number;
  /** It refuses our token; that of a caller does not count. */
  readonly accessRefused?: boolean | undefined;
  /** Answers that are cached; undefined for a backend without a cache. */
  readonly cacheEntries?: number | undefined;
}

interface Probing {
  /** Sends a harmless request. Undefined when the backend is healthy, else its `Retry-After` in ms. Never rejects. */
  readonly probe: () => Promise<number | undefined>;
  /** First and longest interval between probes. */
  readonly probeMs: number;
  readonly maxProbeMs: number;
}

interface CircuitOptions extends Probing {
  readonly name: string;
  /** In a row: they open the circuit. */
  readonly failures: number;
  readonly troubles: Troubles;
  readonly onOpen?: () => void;
}

export type Circuit = ReturnType<typeof createCircuit>;

/**
 * Stops calls to a backend that is down (B5): after failures across devices, or refused connections, which no message can cause. Failures
 * that a few devices can cause at will open it only if a probe fails too.
 */
export function createCircuit({ name, failures, troubles, onOpen, ...probing }: CircuitOptions) {
  const outages = createFailureCount(failures);
  const serverErrors = createFailureCount(failures);
  const closing = new AbortController();
  let refusals = 0;
  let lastSuccess = Number.NEGATIVE_INFINITY;
  let healthyProbes = 0;
  let nextProbe = 0;
  let probed: Promise<void> | undefined;
  let open: (ReturnType<typeof beginOutage> & { stopProbing: () => void; waited: number }) | undefined;

  async function probeOnce(failure: string) {
    const early = nextProbe - performance.now();
    if (early > 0) await pause(early, closing.signal);
    const began = performance.now();
    nextProbe = began + probing.probeMs; // devices can cause at most one probe in each interval
    const retryAfterMs = await probing.probe();
    probed = undefined;
    if (open) return;
    if (retryAfterMs === undefined) foundHealthy();
    else if (lastSuccess < began) openFor(failure, retryAfterMs);
  }

  function openFor(failure: string, retryAfterMs = 0) {
    if (closing.signal.aborted) return;
    const stopProbing = probeUntilHealthy(probing, foundHealthy, retryAfterMs);
    const opened = { ...beginOutage(failure), stopProbing, waited: 0 };
    open = opened;
    onOpen?.();
    const counts = () => ({ failures: outages.count() + serverErrors.count(), waited: opened.waited });
    const fields = { backend: name, failure, failures: counts().failures };
    const message = 'backend is out, calls to it wait';
    troubles.raise(name, { level: 'warn', message, fields, diagnosis: ownLimitOf(failure), still: counts });
  }

  function foundHealthy() {
    healthyProbes += 1;
    succeeded();
  }

  function succeeded(): void {
    lastSuccess = performance.now();
    outages.forget();
    serverErrors.forget();
    refusals = 0;
    if (open === undefined) return;
    const { end, stopProbing, waited } = open;
    open = undefined;
    stopProbing();
    troubles.clear(name, 'backend is back', { backend: name, waited });
    end(true);
  }

  /** Starts a probe unless one runs: the failure alone does not prove an outage. */
  function probeNow(failure: string): void {
    if (open === undefined) probed ??= probeOnce(failure);
  }

  return {
    succeeded,
    probeNow,
    state: (): BackendState['circuit'] => (open ? 'open' : 'closed'),
    outage: (): BackendState['outage'] => open && { since: open.since, failure: open.failure },
    /** Undefined while the circuit is closed. Otherwise resolves with true when it closes, or with false when the service stops. */
    untilClosed(): Promise<boolean> | undefined {
      if (open) open.waited += 1;
      return open?.ended;
    },
    failed(deviceId: string, failure: string): void {
      if (failure === 'connection refused') refusals += 1;
      const acrossDevices = outages.add(deviceId);
      if (open === undefined && (acrossDevices || refusals >= failures)) openFor(failure);
    },
    /** An attempt for this device ended with HTTP 500. The cause is an outage or the device's data (D33). */
    serverError(deviceId: string): void {
      if (serverErrors.add(deviceId)) probeNow('HTTP 500');
    },
    /** Undefined when no probe runs. Otherwise resolves when the probe has found the backend healthy or opened the circuit. */
    untilProbed: () => probed,
    healthyProbes: () => healthyProbes,
    hasSucceededWithin: (ms: number) => performance.now() - lastSuccess < ms,
    close(): void {
      closing.abort();
      open?.stopProbing();
      open?.end(false);
      open = undefined;
    },
  };
}

/** An outage from now on, for whose end calls wait: with true when it is over, with false when the service stops. */
export function beginOutage(failure: string) {
  let end = (_: boolean) => {};
  const ended = new Promise<boolean>((resolve) => {
    end = resolve;
  });
  return { since: performance.now(), failure, ended, end };
}

/** Counts failures in a row. They are enough when they reach the number and come from at least two devices: a single message can cause failures. */
function createFailureCount(enough: number) {
  const devices = new Set<string>(); // two of them at most
  let count = 0;

  return {
    add(deviceId: string): boolean {
      count += 1;
      if (devices.size < 2) devices.add(deviceId);
      return devices.size === 2 && count >= enough;
    },
    count: () => count,
    forget() {
      if (count === 0) return;
      count = 0;
      devices.clear();
    },
  };
}

/** Probes at growing intervals, as long as `Retry-After` asks but `maxProbeMs` at most, until the backend is healthy (B5). @returns ends it */
export function probeUntilHealthy(probing: Probing, foundHealthy: () => void, retryAfterMs: number): () => void {
  const { probe, probeMs, maxProbeMs } = probing;
  let timer: NodeJS.Timeout;
  let isOver = false;

  function probeIn(ms: number, retryAfterMs: number) {
    const wait = Math.max(ms, Math.min(retryAfterMs, maxProbeMs));
    timer = setTimeout(async () => {
      const asked = await probe();
      if (isOver) return;
      if (asked === undefined) foundHealthy();
      else probeIn(Math.min(maxProbeMs, ms * 2), asked);
    }, wait).unref();
  }

  probeIn(probeMs, retryAfterMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
