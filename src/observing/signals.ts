type Environment = Readonly<Record<string, string | undefined>>;

/** What the standard variables of OpenTelemetry call the two. */
type Signal = 'METRICS' | 'TRACES';

/** The value of a standard variable; an empty one counts as not set. */
export const given = (env: Environment, variable: string): string | undefined => env[variable]?.trim() || undefined;

export const isSwitchedOff = (env: Environment): boolean => given(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true';

/** The exporters that are asked for; undefined when the standard variable is not set. */
export const exportersIn = (env: Environment, signal: Signal): readonly string[] | undefined =>
  given(env, `OTEL_${signal}_EXPORTER`)
    ?.split(',')
    .map((name) => name.trim());

/** Whether the standard variables ask for sending to a collector (D118). */
export function isSent(env: Environment, signal: Signal): boolean {
  if (isSwitchedOff(env)) return false;
  const exporters = exportersIn(env, signal);
  if (exporters !== undefined) return exporters.includes('otlp');
  const addresses = [`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
  if (signal === 'METRICS') addresses.push('OTEL_EXPORTER_OTLP_ENDPOINT');
  return addresses.some((variable) => given(env, variable) !== undefined);
}

/** The variable that names the protocol, and its value; undefined when there is none. */
export function protocolIn(env: Environment, signal: Signal): { variable: string; protocol: string } | undefined {
  const variables = [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, 'OTEL_EXPORTER_OTLP_PROTOCOL'];
  const variable = variables.find((name) => given(env, name) !== undefined);
  return variable === undefined ? undefined : { variable, protocol: given(env, variable) ?? '' };
}

export const isHttpAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);

const addresses = ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'] as const;

export type MetricsWanted = ReturnType<typeof metricsWanted>;

/** What the standard variables of OpenTelemetry ask of the metrics. The exporter itself reads the others (address, headers, time-out, certificates). */
export function metricsWanted(env: NodeJS.ProcessEnv) {
  const { variable, protocol } = protocolIn(env, 'METRICS') ?? {};
  const unusable = addresses.filter((name) => !isHttpAddress(given(env, name) ?? 'http://localhost'));
  const intervalMs = millisecondsIn(env['OTEL_METRIC_EXPORT_INTERVAL'], 60_000);
  return {
    /** Whether metrics are recorded at all. */
    isOn: !isSwitchedOff(env),
    /** Whether they are sent to a collector. */
    isSent: isSent(env, 'METRICS'),
    /** Its address, or the beginning of it. */
    collector: addresses.map((name) => given(env, name)).find((one) => one !== undefined) ?? 'http://localhost:4318',
    /** Variables with an address that is none, or a protocol that cannot be served. */
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
