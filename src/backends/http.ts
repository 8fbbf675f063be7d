import type { LogLines } from '../log/log.ts';
import type { Troubles } from '../log/troubles.ts';
import { type Meter, noMeter } from '../metrics/meter.ts';
import { createCallRecords } from '../observing/callRecords.ts';
import { backendNames } from '../protocol/vocabulary.ts';
import { createAttempt } from './attempt.ts';
import { createAccessRecorder, createOutcomeRecorder } from './attemptOutcome.ts';
import { createBulkhead } from './bulkhead.ts';
import type { Call, Send } from './call.ts';
import { type Circuit, createCircuit } from './circuit.ts';
import { createDeadline } from './deadline.ts';
import type { Health } from './healthProbe.ts';
import type { ReadingRoom } from './largeAnswer.ts';
import { createOnceFor, type SendOnce } from './onceFor.ts';
import type { Redact } from './redaction.ts';
import { createCallResults } from './response.ts';
import { createBackOff, isHealthy, policy, retryAfterMs } from './retryPolicy.ts';
import { createSending } from './sending.ts';
import type { BackendState } from './state.ts';
import type { TokenSource } from './tokenSource.ts';
import { type Adapter, createTransport, TransportFailure } from './transport.ts';

export interface Backend {
  /** Calls of one message. */
  bind(call: Call): Send;
  /** Calls with the token of a caller, whose answers say nothing about our own access (M2). */
  onceFor(token: string): SendOnce;
  readonly circuit: Circuit;
  /** Whether calls of messages need not wait for the end of an outage, its own or that of the token endpoint. */
  isUp(): boolean;
  /** Undefined while it is up. Otherwise resolves with true when that may have changed, or with false when the service stops. */
  untilUp(): Promise<boolean> | undefined;
  /** Attempts that wait for a connection. */
  waiting(): number;
  /** For operators. */
  state(): BackendState;
  close(): Promise<void>;
}

export interface BackendSettings {
  /** Limit of one attempt in ms; the message's deadline may be earlier. */
  readonly attemptTimeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly connections: number;
  /** Failures that open the circuit. */
  readonly circuitFailures: number;
}

const nobody = '00000000-0000-0000-0000-000000000000';

/** Paths of a GET that changes nothing and is quick, whatever its response. */
export const probes = {
  informationModel: `/objects/${nobody}/models/svc.device`,
  typeRegistry: '/modelDefinitions/svc.device/types/none',
  principalManager: '/devices?device=none',
} as const;

interface BackendOptions {
  readonly backend: keyof typeof probes;
  readonly url: string;
  readonly tokens: TokenSource;
  readonly settings: BackendSettings;
  readonly log: LogLines;
  readonly troubles: Troubles;
  readonly redact: Redact;
  readonly meter?: Meter | undefined;
  /** Of all backends of the process, for large answers. */
  readonly room?: ReadingRoom | undefined;
  /** Replaces the network. */
  readonly adapter?: Adapter | undefined;
  readonly random?: (() => number) | undefined;
}

const unhealthy: Health = { healthy: false, retryAfterMs: 0 };

export function createBackend(options: BackendOptions): Backend {
  const { backend, url, tokens, settings, log, troubles, redact, room, adapter, random, meter = noMeter } = options;
  const name = backendNames[backend];
  const { attemptTimeoutMs, maxAnswerBytes } = settings;
  const { adapter: network, close } = adapter
    ? { adapter, close: async () => {} }
    : createTransport(url, { ...settings, room });
  const attemptWith = (tokens: Pick<TokenSource, 'renew'>) =>
    createAttempt({ adapter: network, maxAnswerBytes, tokens, name });
  const attempt = attemptWith(tokens);
  const access = createAccessRecorder(name, troubles);
  const calls = createCallRecords(backend, url, meter);
  const circuit = createCircuit({
    name,
    failures: settings.circuitFailures,
    probeMs: policy.probeMs,
    maxProbeMs: policy.maxProbeMs,
    troubles,
    onOpen: calls.out,
    async probe() {
      const deadline = createDeadline(attemptTimeoutMs / 1000);
      try {
        const token = await tokens.token();
        const sentAt = performance.now();
        // Without the bulkhead: calls that hang must not delay the probe.
        const request = { method: 'GET', path: probes[backend], headers: {} };
        const response = await attempt(request, token, attemptTimeoutMs, deadline);
        calls.probed(response, sentAt);
        if (response instanceof TransportFailure) return unhealthy;
        response.release?.();
        access(response.status);
        return { healthy: isHealthy(response.status), retryAfterMs: retryAfterMs(response.retryAfter) };
      } catch {
        return unhealthy;
      }
    },
  });

  /** The calls of messages wait for both outages; those with the token of a caller only for that of the backend. */
  const state = () => (tokens.isOut() ? 'open' : circuit.state());
  const untilClosed = () => tokens.untilBack() ?? circuit.untilClosed();
  const bulkhead = createBulkhead({ state, untilClosed }, settings.connections);

  return {
    bind: createSending({
      name,
      attemptTimeoutMs,
      maxAnswerBytes,
      tokens,
      attempt,
      calls,
      recordOutcome: createOutcomeRecorder({ circuit, attemptTimeoutMs, access }),
      bulkhead,
      retries: { circuit: { ...circuit, state }, backOff: createBackOff(random) },
      results: createCallResults(name, log, redact),
    }),
    onceFor: createOnceFor({ name, attemptTimeoutMs, attemptWith, calls, bulkhead, circuit }),
    circuit,
    isUp: () => state() === 'closed',
    untilUp: untilClosed,
    waiting: () => bulkhead.connections().waiting,
    state: () => ({
      ...{ circuit: circuit.state(), outage: circuit.outage() },
      ...{ connections: bulkhead.connections(), oldestMs: calls.oldestMs() },
    }),
    async close() {
      circuit.close();
      await close();
    },
  };
}
