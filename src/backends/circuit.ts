import type { Troubles } from '../log/troubles.ts';
import { createFailureCount } from './failureCount.ts';
import { createHealthProbe, type Health } from './healthProbe.ts';

/** Whether a backend is there at all (B5). */
export interface Circuit {
  state(): 'closed' | 'open';
  /** While it is open: resolves when it has closed (true), or when the service gives up on it (false). */
  untilClosed(): Promise<boolean> | undefined;
  /** An attempt for this device failed as in an outage. */
  failed(deviceId: string, failure: string): void;
  /** An attempt for this device drew HTTP 500: an outage, or what the device has sent (D33). */
  drew500(deviceId: string): void;
  /** The backend may be out, by a sign that proves nothing: it is asked itself. */
  doubt(failure: string): void;
  /** While it is being asked: resolves when the circuit is open, or the backend has proved healthy. */
  untilAsked(): Promise<void> | undefined;
  /** How often the backend has been found healthy by a probe. */
  healthyProbes(): number;
  /** The backend has answered like a healthy one. */
  succeeded(): void;
  /** Whether it has done so in the last so many ms. */
  hasSucceededWithin(ms: number): boolean;
  close(): void;
}

interface CircuitOptions {
  /** Of the backend, in words. */
  readonly name: string;
  /** Failures with no success in between that open it. */
  readonly failures: number;
  /** First and longest interval between probes, in ms. */
  readonly probeMs: number;
  readonly maxProbeMs: number;
  /** Asks the backend for something harmless. Never rejects. */
  readonly probe: () => Promise<Health>;
  readonly troubles: Troubles;
}

const refused = 'connection refused';

/** What everybody waits at while the circuit is open. */
interface SendQueue {
  readonly closed: Promise<boolean>;
  readonly release: (isBack: boolean) => void;
  /** How many have come to wait. */
  waited: number;
}

/**
 * Opens when failures come from several devices, or when connections are refused, which no message can provoke. What a
 * few devices can provoke as they like opens it only if a probe fails, too.
 */
export function createCircuit(options: CircuitOptions): Circuit {
  const { name, failures, probeMs, maxProbeMs, probe, troubles } = options;
  const outages = createFailureCount(failures);
  const serverErrors = createFailureCount(failures);
  let refusals = 0;
  let lastSuccess = Number.NEGATIVE_INFINITY;
  let healthyProbes = 0;
  let gate: SendQueue | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const healthProbe = createHealthProbe({
    probe,
    everyMs: probeMs,
    answered({ healthy, retryAfterMs }, failure, began) {
      if (closed || gate) return;
      if (healthy) foundHealthy();
      else if (lastSuccess < began) open(failure, retryAfterMs);
    },
  });

  function open(failure: string, retryAfterMs = 0) {
    let release: SendQueue['release'] = () => {};
    const released = new Promise<boolean>((resolve) => {
      release = resolve;
    });
    const opened: SendQueue = { closed: released, release, waited: 0 };
    gate = opened;
    const counts = () => ({ failures: outages.count() + serverErrors.count(), waited: opened.waited });
    const fields = { backend: name, failure, failures: counts().failures };
    troubles.met(name, { level: 'warn', message: 'backend is out, calls to it wait', fields, still: counts });
    probeIn(probeMs, retryAfterMs);
  }

  /** The backend is asked no sooner than it wants to be, but for wishes beyond the longest interval. */
  function probeIn(ms: number, retryAfterMs: number) {
    const wait = Math.max(ms, Math.min(retryAfterMs, maxProbeMs));
    timer = setTimeout(async () => {
      const opened = gate;
      const health = await probe();
      if (gate === undefined || gate !== opened) return;
      if (health.healthy) foundHealthy();
      else probeIn(Math.min(maxProbeMs, ms * 2), health.retryAfterMs);
    }, wait).unref();
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
    const { release, waited } = gate;
    gate = undefined;
    clearTimeout(timer);
    troubles.over(name, 'backend is back', { backend: name, waited });
    release(true);
  }

  return {
    state: () => (gate ? 'open' : 'closed'),
    untilClosed() {
      if (gate) gate.waited += 1;
      return gate?.closed;
    },
    failed(deviceId, failure) {
      if (failure === refused) refusals += 1;
      const acrossDevices = outages.add(deviceId);
      if (gate === undefined && (acrossDevices || refusals >= failures)) open(failure);
    },
    drew500(deviceId) {
      if (serverErrors.add(deviceId) && gate === undefined) healthProbe.begin('HTTP 500');
    },
    doubt(failure) {
      if (gate === undefined) healthProbe.begin(failure);
    },
    untilAsked: healthProbe.untilAnswered,
    healthyProbes: () => healthyProbes,
    succeeded,
    hasSucceededWithin: (ms) => performance.now() - lastSuccess < ms,
    close() {
      closed = true;
      clearTimeout(timer);
      healthProbe.close();
      gate?.release(false);
      gate = undefined;
    },
  };
}
