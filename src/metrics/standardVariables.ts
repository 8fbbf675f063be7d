import { given, isHttpAddress, isSent, isSwitchedOff, protocolIn } from './signals.ts';

/** What the standard variables of OpenTelemetry ask of the metrics. The exporter itself reads the others (address, headers, time-out, certificates). */
export interface MetricsWanted {
  /** Whether metrics are recorded at all: unless OTEL_SDK_DISABLED is true. */
  readonly isOn: boolean;
  /** Whether they are sent to a collector. */
  readonly isSent: boolean;
  /** Where the collector is: its address, or the beginning of it. */
  readonly collector: string;
  /** Variables with an address that is none, or a protocol that cannot be served. */
  readonly unusable: readonly string[];
  readonly intervalMs: number;
  readonly timeoutMs: number;
}

const addresses = ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

export function metricsWanted(env: NodeJS.ProcessEnv): MetricsWanted {
  const { variable, protocol } = protocolIn(env, 'METRICS') ?? {};
  const unusable = addresses.filter((name) => !isHttpAddress(given(env, name) ?? 'http://localhost'));
  const intervalMs = millisecondsIn(env['OTEL_METRIC_EXPORT_INTERVAL'], 60_000);
  return {
    isOn: !isSwitchedOff(env),
    isSent: isSent(env, 'METRICS'),
    collector: addresses.map((name) => given(env, name)).find((one) => one !== undefined) ?? 'http://localhost:4318',
    unusable: [...unusable, ...(variable !== undefined && protocol === 'grpc' ? [variable] : [])],
    intervalMs,
    timeoutMs: Math.min(intervalMs, millisecondsIn(env['OTEL_METRIC_EXPORT_TIMEOUT'], 30_000)),
  };
}

/** The longest time of a timer. */
const mostMs = 2 ** 31 - 1;

/** As the standard has it, a text that is no such number counts as not set. */
function millisecondsIn(text: string | undefined, fallback: number): number {
  const number = Number(text);
  return Number.isInteger(number) && number > 0 && number <= mostMs ? number : fallback;
}
