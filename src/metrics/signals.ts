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
