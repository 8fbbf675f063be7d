import type { InternalAxiosRequestConfig, RawAxiosRequestHeaders } from 'axios';
import { ageOf } from '../concurrency/clocks.ts';
import { createCallRecords } from '../observing/callRecords.ts';
import type { LogLines, Troubles } from '../observing/log.ts';
import { type Meter, noMeter } from '../observing/metrics.ts';
import type { Redact } from '../observing/redaction.ts';
import { type BackendKey, backendNames } from '../protocol/vocabulary.ts';
import { createBulkhead } from './bulkhead.ts';
import { type BackendState, createCircuit } from './circuit.ts';
import { createDeadline, type Deadline } from './deadline.ts';
import { createBackOff, isHealthy, isOutage, policy, retryAfterMs } from './retryPolicy.ts';
import { orNone, type TokenSource } from './tokens.ts';
import { type Adapter, createTransport, type ReadingRoom, type ReceivedAnswer, TransportFailure } from './transport.ts';

/** A larger answer is not read. */
export const maxAnswerBytes = 5 * 1024 * 1024;

export interface CallSettings {
  /** Limit of one attempt; the message's deadline may be earlier. */
  readonly attemptTimeoutSeconds: number;
  readonly connections: number;
  /** For tests: no operator would choose them (B5, `response_too_large`). */
  readonly circuitFailures?: number;
  readonly maxAnswerBytes?: number;
}

/** Paths of a GET that changes nothing and is quick, whatever its response. */
export const probes = {
  informationModel: '/objects/00000000-0000-0000-0000-000000000000/models/svc.device',
  typeRegistry: '/modelDefinitions/svc.device/types/none',
  principalManager: '/devices?device=none',
} as const;

export interface BackendOptions {
  readonly backend: keyof typeof probes;
  readonly url: string;
  readonly tokens: TokenSource;
  readonly settings: CallSettings;
  readonly log: LogLines;
  readonly troubles: Troubles;
  readonly redact: Redact;
  readonly meter?: Meter | undefined;
  /** For large answers of all backends. */
  readonly room?: ReadingRoom | undefined;
  /** Replaces the network. */
  readonly adapter?: Adapter | undefined;
  readonly random?: (() => number) | undefined;
}

export type Backend = ReturnType<typeof createBackend>;

/** What the calls of one backend have in common: transport, token, connections, circuit, records. */
export function createBackend(options: BackendOptions) {
  const { backend, url, tokens, settings, log, troubles, redact, room, adapter, random, meter = noMeter } = options;
  const name = backendNames[backend];
  const { connections, circuitFailures: failures = policy.circuitFailures } = settings;
  const most = settings.maxAnswerBytes ?? maxAnswerBytes;
  const attemptTimeoutMs = settings.attemptTimeoutSeconds * 1000;
  const transport = createTransport(url, { connections, attemptTimeoutMs, room }, adapter);
  const attempt = createAttempt(transport.adapter, most, tokens, name);
  const calls = createCallRecords(backend, url, meter);
  const accessFields = { backend: name };
  let isRefused = false;

  async function probe(): Promise<number | undefined> {
    const deadline = createDeadline(attemptTimeoutMs / 1000);
    try {
      const token = await tokens.token();
      const sentAt = performance.now();
      // Without the bulkhead: calls that hang must not delay the probe.
      const request = { method: 'GET', path: probes[backend], headers: {} };
      const response = await attempt(request, token, attemptTimeoutMs, deadline);
      calls.probed(response, sentAt);
      if (response instanceof TransportFailure) return 0;
      response.release?.();
      recordAccess(response.status);
      return isHealthy(response.status) ? undefined : retryAfterMs(response.retryAfter);
    } catch {
      return 0;
    }
  }

  const { probeMs, maxProbeMs } = policy;
  const circuit = createCircuit({ name, failures, probe, probeMs, maxProbeMs, troubles, onOpen: calls.out });
  /** The calls of messages wait for both outages; those with the token of a caller only for that of the backend. */
  const state = () => (tokens.isOut() ? 'open' : circuit.state());
  const untilUp = () => tokens.untilBack() ?? circuit.untilClosed();
  const bulkhead = createBulkhead({ state, untilClosed: untilUp }, connections);

  function recordAccess(status: number) {
    if (status === 401) {
      isRefused = true;
      // The trouble lasts until the backend accepts the token, also while no calls are made.
      const trouble = { message: 'backend refuses our access token', fields: accessFields, still: () => ({}) } as const;
      troubles.raise(`${name}: access`, { level: 'error', ...trouble });
    } else if (isRefused && isHealthy(status)) {
      isRefused = false;
      troubles.clear(`${name}: access`, 'backend accepts our access token', accessFields);
    }
  }

  return {
    ...{ name, attemptTimeoutMs, maxAnswerBytes: most, tokens, attempt, calls, bulkhead, circuit, log, redact },
    retries: { circuit: { ...circuit, state }, backOff: createBackOff(random) },

    /** Reports the outcome of an attempt to the circuit (B5). @param timeoutMs limit of the attempt */
    recordOutcome(response: HttpResponse | TransportFailure, deviceId: string, timeoutMs: number): void {
      if (response instanceof TransportFailure) {
        const { fault } = response;
        if (fault === 'answer too large') return;
        // A time-out while other calls succeed means that the backend is slow, not down.
        const isLong = timeoutMs >= Math.min(policy.tellingTimeoutMs, attemptTimeoutMs);
        if (fault === 'no answer in time' && (!isLong || circuit.hasSucceededWithin(timeoutMs))) return;
        circuit.failed(deviceId, fault);
        return;
      }
      const { status } = response;
      recordAccess(status);
      if (status === 500) circuit.serverError(deviceId);
      else if (isOutage(status)) circuit.failed(deviceId, `HTTP ${status}`);
      else if (isHealthy(status)) circuit.succeeded();
    },
    /** The same for an attempt with the token of a caller: no answer counts (M2), and without one, a probe decides (D45). */
    recordOutcomeForCaller(response: HttpResponse | TransportFailure): void {
      if (!(response instanceof TransportFailure) || response.fault === 'answer too large') return;
      circuit.probeNow(response.fault);
    },

    /** Whether calls of messages need not wait for the end of an outage, its own or that of the token endpoint. */
    isUp: () => state() === 'closed',
    /** Undefined while it is up. Otherwise resolves with true when that may have changed, or with false when the service stops. */
    untilUp,
    waiting: () => bulkhead.connections().waiting,
    state: (): BackendState => ({
      ...{ circuit: circuit.state(), outage: circuit.outage() },
      ...{ connections: bulkhead.connections(), oldestMs: calls.oldestMs() },
      accessRefused: isRefused || undefined,
    }),
    async close(): Promise<void> {
      circuit.close();
      await transport.close();
    },
  };
}

export interface HttpResponse extends ReceivedAnswer {
  /** The token of the request: texts for devices and logs must not contain it. */
  readonly token: string;
  readonly retryAfter: string | undefined;
}

/** One HTTP request without its token. */
export interface Outgoing {
  readonly method: string;
  /** Path and query, encoded. */
  readonly path: string;
  readonly body?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Sends a request once, and again after a 401 if there is another token: the first may have expired early. A caller's own token comes
 * with what renews it.
 */
export function createAttempt(adapter: Adapter, most: number, own: Pick<TokenSource, 'renew'>, name: string) {
  // Without `Axios.request`: it would merge defaults, normalise headers and apply transforms, of which there are none (D142). The class of
  // headers would have all of axios loaded at the start.
  const transmit = ({ method, path, body, headers: given }: Outgoing, timeoutMs: number, token: string) => {
    const headers: RawAxiosRequestHeaders = { authorization: `Bearer ${token}`, ...given };
    const config = { method, url: path, data: body, timeout: timeoutMs, maxContentLength: most, headers };
    return adapter(config as InternalAxiosRequestConfig);
  };

  return async (outgoing: Outgoing, token: string, timeoutMs: number, deadline: Deadline, tokens = own) => {
    try {
      const response = responseOf(await transmit(outgoing, timeoutMs, token), token);
      if (response.status !== 401) return response;
      const renewed = await deadline.race(orNone(tokens.renew(token), token), `an access token for the ${name}`);
      const left = Math.max(1, Math.min(timeoutMs, deadline.remaining()));
      return renewed === token ? response : responseOf(await transmit(outgoing, left, renewed), renewed);
    } catch (error) {
      if (error instanceof TransportFailure) return error;
      throw error;
    }
  };
}

const responseOf = (answer: ReceivedAnswer, token: string): HttpResponse =>
  Object.assign(answer, { token, retryAfter: answer.headers['retry-after'] as string | undefined });

export const shownBackends = (states: Readonly<Record<string, BackendState>>) =>
  Object.fromEntries(
    Object.entries(states).map(([name, { outage, ...state }]) => [
      name,
      { ...state, ...(outage && { outage: { failure: outage.failure, ...ageOf(outage.since) } }) },
    ]),
  );

const caches = { typeRegistry: 'types', principalManager: 'identities' } as const;

export function observeBackends(meter: Meter, states: () => Readonly<Partial<Record<BackendKey, BackendState>>>): void {
  const each = () => Object.entries(states()) as [BackendKey, BackendState][];

  meter.observe('device_messaging.backend.out', () =>
    each().map(([name, { circuit }]) => [circuit === 'open' ? 1 : 0, name] as const),
  );
  meter.observe('device_messaging.backend.access_refused', () =>
    each().map(([name, { accessRefused }]) => [accessRefused ? 1 : 0, name] as const),
  );
  meter.observe('device_messaging.backend.connections', () =>
    each().flatMap(([name, { connections }]) => {
      const { inUse, waiting } = connections;
      return [[inUse, name, 'used'] as const, [waiting, name, 'waiting'] as const];
    }),
  );
  meter.observe('device_messaging.cache.entries', () =>
    each().flatMap(([name, { cacheEntries }]) =>
      cacheEntries === undefined ? [] : [[cacheEntries, caches[name as keyof typeof caches]] as const],
    ),
  );
}
