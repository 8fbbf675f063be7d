import type { Troubles } from '../log/troubles.ts';
import { ownLimitOf } from '../observing/diagnosis.ts';
import { createHealthProbe, type Health, probeUntilHealthy } from './healthProbe.ts';

/** Stops calls to a backend that is down (B5). */
export interface Circuit {
  state(): 'closed' | 'open';
  /** For operators: why it is open; undefined while it is closed. */
  outage(): Outage | undefined;
  /** Undefined while the circuit is closed. Otherwise resolves with true when it closes, or with false when the service stops. */
  untilClosed(): Promise<boolean> | undefined;
  /** An attempt for this device failed in a way that is typical of an outage. */
  failed(deviceId: string, failure: string): void;
  /** An attempt for this device ended with HTTP 500. The cause is an outage or the device's data (D33). */
  serverError(deviceId: string): void;
  /** Starts a probe: the failure alone does not prove an outage. */
  probeNow(failure: string): void;
  /** Undefined when no probe runs. Otherwise resolves when the probe has found the backend healthy or opened the circuit. */
  untilProbed(): Promise<void> | undefined;
  /** Number of probes that found the backend healthy. */
  healthyProbes(): number;
  /** The backend has given a response that shows it is healthy. */
  succeeded(): void;
  /** Whether there was such a response in the last `ms`. */
  hasSucceededWithin(ms: number): boolean;
  close(): void;
}

export interface Outage {
  /** As `performance.now()`. */
  readonly since: number;
  readonly failure: string;
}

interface CircuitOptions {
  /** Of the backend, for logs. */
  readonly name: string;
  /** Number of failures in a row that open the circuit. */
  readonly failures: number;
  /** First and longest interval between probes, in ms. */
  readonly probeMs: number;
  readonly maxProbeMs: number;
  /** Sends the backend a harmless request. Never rejects. */
  readonly probe: () => Promise<Health>;
  readonly troubles: Troubles;
  readonly onOpen?: () => void;
}

const refused = 'connection refused';

/** The calls that wait while the circuit is open. */
interface OpenPeriod extends Outage {
  readonly closed: Promise<boolean>;
  readonly release: (isBack: boolean) => void;
  readonly stopProbing: () => void;
  /** Number of calls that have waited. */
  waited: number;
}

/**
 * Opens when failures come from several devices, or when connections are refused, which no message can cause. Failures
 * that a few devices can cause at will open it only if a probe fails too.
 */
export function createCircuit(options: CircuitOptions): Circuit {
  const { name, failures, probeMs, maxProbeMs, probe, troubles, onOpen } = options;
  const outages = createFailureCount(failures);
  const serverErrors = createFailureCount(failures);
  let refusals = 0;
  let lastSuccess = Number.NEGATIVE_INFINITY;
  let healthyProbes = 0;
  let gate: OpenPeriod | undefined;
  let closed = false;

  const healthProbe = createHealthProbe({
    probe,
    everyMs: probeMs,
    answered({ healthy, retryAfterMs }, failure, began) {
      if (gate) return;
      if (healthy) foundHealthy();
      else if (lastSuccess < began) open(failure, retryAfterMs);
    },
  });

  function open(failure: string, retryAfterMs = 0) {
    if (closed) return;
    let release: OpenPeriod['release'] = () => {};
    const released = new Promise<boolean>((resolve) => {
      release = resolve;
    });
    const stopProbing = probeUntilHealthy({ probe, probeMs, maxProbeMs, foundHealthy }, retryAfterMs);
    const opened: OpenPeriod = { closed: released, release, stopProbing, waited: 0, since: performance.now(), failure };
    gate = opened;
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

  function succeeded() {
    lastSuccess = performance.now();
    outages.forget();
    serverErrors.forget();
    refusals = 0;
    if (gate === undefined) return;
    const { release, stopProbing, waited } = gate;
    gate = undefined;
    stopProbing();
    troubles.clear(name, 'backend is back', { backend: name, waited });
    release(true);
  }

  return {
    state: () => (gate ? 'open' : 'closed'),
    outage: () => gate && { since: gate.since, failure: gate.failure },
    untilClosed() {
      if (gate) gate.waited += 1;
      return gate?.closed;
    },
    failed(deviceId, failure) {
      if (failure === refused) refusals += 1;
      const acrossDevices = outages.add(deviceId);
      if (gate === undefined && (acrossDevices || refusals >= failures)) open(failure);
    },
    serverError(deviceId) {
      if (serverErrors.add(deviceId) && gate === undefined) healthProbe.begin('HTTP 500');
    },
    probeNow(failure) {
      if (gate === undefined) healthProbe.begin(failure);
    },
    untilProbed: healthProbe.untilAnswered,
    healthyProbes: () => healthyProbes,
    succeeded,
    hasSucceededWithin: (ms) => performance.now() - lastSuccess < ms,
    close() {
      closed = true;
      healthProbe.close();
      gate?.stopProbing();
      gate?.release(false);
      gate = undefined;
    },
  };
}

/**
 * Counts failures in a row. They are enough when they reach the number and come from at least two devices: a single message
 * can cause failures.
 */
function createFailureCount(enough: number) {
  let count = 0;
  let firstDevice: string | undefined;
  let acrossDevices = false;

  return {
    /** @returns whether there are enough */
    add(deviceId: string): boolean {
      count += 1;
      firstDevice ??= deviceId;
      acrossDevices ||= deviceId !== firstDevice;
      return acrossDevices && count >= enough;
    },
    count: () => count,
    forget() {
      if (count === 0) return;
      count = 0;
      firstDevice = undefined;
      acrossDevices = false;
    },
  };
}
