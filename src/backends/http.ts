import type { AxiosAdapter } from 'axios';
import type { LogLines } from '../log/log.ts';
import type { Troubles } from '../log/troubles.ts';
import { type Meter, noMeter } from '../metrics/meter.ts';
import { createCalls } from '../observing/calls.ts';
import { type BackendKey, backendNames } from '../protocol/backendCalls.ts';
import { createAttempt } from './attempt.ts';
import { createAccess, createOutcomeRecorder } from './attemptOutcome.ts';
import { createBackOff, retryAfterMs } from './backOff.ts';
import { type Connections, createBulkhead } from './bulkhead.ts';
import type { Call, Send } from './call.ts';
import { type Circuit, createCircuit } from './circuit.ts';
import { createDeadline } from './deadline.ts';
import type { Health } from './healthProbe.ts';
import type { Redact } from './redaction.ts';
import { createCallResults } from './response.ts';
import { createSending } from './sending.ts';
import { isHealthy } from './status.ts';
import type { TokenSource } from './token.ts';
import { createTransport, TransportFailure } from './transport.ts';

export interface Backend {
  /** Calls of one message. */
  bind(call: Call): Send;
  readonly circuit: Circuit;
  connections(): Connections;
  close(): Promise<void>;
}

export interface BackendSettings {
  /** Limit of one attempt in ms; the message's deadline may be earlier. */
  readonly attemptTimeoutMs: number;
  readonly maxAnswerBytes: number;
  readonly connections: number;
  /** First and longest back-off, in ms. */
  readonly backOffMs: number;
  readonly maxBackOffMs: number;
  /** Failures that open the circuit. */
  readonly circuitFailures: number;
  /** First and longest interval between probes of an open circuit, in ms. */
  readonly probeMs: number;
  readonly maxProbeMs: number;
}

interface BackendOptions {
  readonly backend: BackendKey;
  readonly url: string;
  /** Path of a GET that changes nothing and is quick, whatever its response. */
  readonly probe: string;
  readonly tokens: TokenSource;
  readonly settings: BackendSettings;
  readonly log: LogLines;
  readonly troubles: Troubles;
  readonly redact: Redact;
  readonly meter?: Meter | undefined;
  /** Replaces the network. */
  readonly adapter?: AxiosAdapter | undefined;
  readonly random?: (() => number) | undefined;
}

const unhealthy: Health = { healthy: false, retryAfterMs: 0 };

export function createBackend(options: BackendOptions): Backend {
  const { backend, url, probe, tokens, settings, log, troubles, redact, adapter, random, meter = noMeter } = options;
  const name = backendNames[backend];
  const { attemptTimeoutMs, maxAnswerBytes } = settings;
  const transport = adapter ? { adapter, close: async () => {} } : createTransport(url, settings);
  const attempt = createAttempt({ adapter: transport.adapter, maxAnswerBytes, tokens, name });
  const access = createAccess(name, troubles);
  const calls = createCalls(backend, url, meter);
  const circuit = createCircuit({
    name,
    failures: settings.circuitFailures,
    probeMs: settings.probeMs,
    maxProbeMs: settings.maxProbeMs,
    troubles,
    onOpen: calls.out,
    async probe() {
      const deadline = createDeadline(attemptTimeoutMs / 1000);
      const sentAt = performance.now();
      try {
        // Without the bulkhead: calls that hang must not delay the probe.
        const response = await attempt({ method: 'GET', path: probe, headers: {} }, attemptTimeoutMs, deadline);
        calls.probed(response, sentAt);
        if (response instanceof TransportFailure) return unhealthy;
        access(response.status);
        return { healthy: isHealthy(response.status), retryAfterMs: retryAfterMs(response.retryAfter) };
      } catch {
        return unhealthy;
      }
    },
  });

  const bulkhead = createBulkhead(circuit, settings.connections);

  return {
    bind: createSending({
      name,
      attemptTimeoutMs,
      maxAnswerBytes,
      attempt,
      calls,
      recordOutcome: createOutcomeRecorder({ circuit, attemptTimeoutMs, access }),
      bulkhead,
      retries: {
        circuit,
        backOff: createBackOff(settings.backOffMs, settings.maxBackOffMs, random),
        maxRetryAfterMs: settings.maxProbeMs,
      },
      results: createCallResults(name, log, redact),
    }),
    circuit,
    connections: bulkhead.connections,
    async close() {
      circuit.close();
      await transport.close();
    },
  };
}
