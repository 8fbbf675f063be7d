/** What is written to: pino, or anything that has these three. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Whether a backend is there at all (B5). */
export interface Circuit {
  state(): 'closed' | 'open';
  /** While it is open: resolves when it has closed (true), or when the service gives up on it (false). */
  untilClosed(): Promise<boolean> | undefined;
  /** An attempt for this device failed as in an outage. */
  failed(deviceId: string, failure: string): void;
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
  /** Asks the backend for something harmless: is it healthy? Never rejects. */
  readonly probe: () => Promise<boolean>;
  readonly log: Log;
}

const refused = 'connection refused';

/** What everybody waits at while the circuit is open. */
interface Gate {
  readonly closed: Promise<boolean>;
  readonly release: (isBack: boolean) => void;
  readonly since: number;
}

/**
 * Opens when failures come from at least two devices, for one message alone can provoke them; or when connections are
 * refused, which no message can provoke.
 */
export function createCircuit({ name, failures, probeMs, maxProbeMs, probe, log }: CircuitOptions): Circuit {
  let count = 0;
  let refusals = 0;
  let firstDevice: string | undefined;
  let acrossDevices = false;
  let lastSuccess = Number.NEGATIVE_INFINITY;
  let gate: Gate | undefined;
  let timer: NodeJS.Timeout | undefined;

  function forget() {
    count = 0;
    refusals = 0;
    firstDevice = undefined;
    acrossDevices = false;
  }

  function open(failure: string) {
    let release: Gate['release'] = () => {};
    const closed = new Promise<boolean>((resolve) => {
      release = resolve;
    });
    gate = { closed, release, since: performance.now() };
    log.warn({ backend: name, failures: count, failure }, 'backend is out, calls to it wait');
    probeIn(probeMs);
  }

  function probeIn(ms: number) {
    timer = setTimeout(async () => {
      const opened = gate;
      const healthy = await probe();
      if (gate === undefined || gate !== opened) return;
      if (healthy) succeeded();
      else probeIn(Math.min(maxProbeMs, ms * 2));
    }, ms).unref();
  }

  function succeeded() {
    lastSuccess = performance.now();
    if (count > 0) forget();
    if (gate === undefined) return;
    const { release, since } = gate;
    gate = undefined;
    clearTimeout(timer);
    log.info({ backend: name, outMs: Math.round(performance.now() - since) }, 'backend is back');
    release(true);
  }

  return {
    state: () => (gate ? 'open' : 'closed'),
    untilClosed: () => gate?.closed,
    failed(deviceId, failure) {
      count += 1;
      if (failure === refused) refusals += 1;
      firstDevice ??= deviceId;
      acrossDevices ||= deviceId !== firstDevice;
      if (gate === undefined && ((acrossDevices && count >= failures) || refusals >= failures)) open(failure);
    },
    succeeded,
    hasSucceededWithin: (ms) => performance.now() - lastSuccess < ms,
    close() {
      clearTimeout(timer);
      gate?.release(false);
      gate = undefined;
    },
  };
}
