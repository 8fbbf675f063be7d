import type { Agent } from 'node:http';
import { outboundAgent, tunnelTo } from '@device-messaging/telemetry/outbound.ts';
import type { Resource } from '@opentelemetry/resources';
import { createTroubles, type Log } from './log.ts';

export interface Program {
  /** `service.name`, unless OTEL_SERVICE_NAME says otherwise. */
  readonly service: string;
  readonly version: string;
  /** Tells this process from all others. */
  readonly instance: string;
}

export async function resourceOf({ service, version, instance }: Program): Promise<Resource> {
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = await import(
    '@opentelemetry/resources' // loaded only when somebody asks
  );
  const own = { 'service.name': service, 'service.version': version, 'service.instance.id': instance };
  const named = defaultResource().merge(resourceFromAttributes(own));
  return named.merge(detectResources({ detectors: [envDetector] }));
}

/** Options of an exporter whose collector is behind a proxy; without them it takes the certificates of the standard variables. */
export const collectorAgent = (address: string): { readonly httpAgentOptions?: () => Agent } =>
  tunnelTo(new URL(address)) === undefined ? {} : { httpAgentOptions: () => outboundAgent };

/** Undefined unless the environment asks for traces (D118): then nothing of OpenTelemetry's trace libraries is loaded. */
export async function openTraces(env: NodeJS.ProcessEnv, { log, ...program }: Program & { readonly log: Log }) {
  const { collector, ignored } = traceSettings(env);
  for (const variable of ignored) log.warn(variable, 'variable for traces is not used');
  if (collector === undefined) return undefined;
  const { startRecording } = await import('./recording.ts');
  const { url, ratio } = collector;
  log.info({ collector: new URL(url).host, ratio }, 'spans are sent to the collector');
  const to = { url, ...collectorAgent(url) };
  const { version } = program;
  return startRecording({ to, ratio, version, resource: await resourceOf(program), troubles: createTroubles(log) });
}

type Environment = Readonly<Record<string, string | undefined>>;

type Signal = 'METRICS' | 'TRACES';

/** The value of a standard variable; an empty one counts as not set. */
const given = (env: Environment, variable: string): string | undefined => env[variable]?.trim() || undefined;

const firstSet = (env: Environment, variables: readonly string[]): string | undefined =>
  variables.find((variable) => given(env, variable) !== undefined);

const isSwitchedOff = (env: Environment): boolean => given(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true';

/** The exporters that are asked for; undefined when the standard variable is not set. */
const exportersIn = (env: Environment, signal: Signal): readonly string[] | undefined =>
  given(env, `OTEL_${signal}_EXPORTER`)
    ?.split(',')
    .map((name) => name.trim());

/** Whether the standard variables ask for sending to a collector (D118): for traces the general address alone does not. */
function isSent(env: Environment, signal: Signal): boolean {
  if (isSwitchedOff(env)) return false;
  const general = signal === 'METRICS' ? ['OTEL_EXPORTER_OTLP_ENDPOINT'] : [];
  const address = firstSet(env, [`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, ...general]);
  return exportersIn(env, signal)?.includes('otlp') ?? address !== undefined;
}

const isHttpAddress = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);

/** The share of the messages that is recorded, by OTEL_TRACES_SAMPLER; undefined where its argument says it. Nothing has a parent. */
const samplers: Readonly<Record<string, number | undefined>> = {
  always_on: 1,
  parentbased_always_on: 1,
  always_off: 0,
  parentbased_always_off: 0,
  traceidratio: undefined,
  parentbased_traceidratio: undefined,
};

/**
 * Which traces are wanted, by the standard variables of OpenTelemetry (D118).
 * @returns their address, the share of the messages that is recorded (0 to 1), and the variables that ask for what this service does not have
 */
export function traceSettings(env: Environment) {
  const ignored: { readonly variable: string; readonly hint: string }[] = [];
  const ignore = (variable: string, hint: string): undefined => void ignored.push({ variable, hint });
  if (!isSwitchedOff(env) && exportersIn(env, 'TRACES')?.some((name) => name !== 'otlp' && name !== 'none'))
    ignore('OTEL_TRACES_EXPORTER', 'the exporters are otlp and none');

  function usableUrl(): string | undefined {
    const protocol = firstSet(env, ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']) ?? '';
    if (given(env, protocol) === 'grpc')
      return ignore(protocol, 'only OTLP over HTTP is supported; no traces are sent');
    if (protocol && given(env, protocol) !== 'http/json') ignore(protocol, 'spans are sent as http/json');
    const endpoint = firstSet(env, ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']) ?? '';
    const set = given(env, endpoint) ?? 'http://localhost:4318';
    const address = endpoint.includes('TRACES') ? set : `${set.replace(/\/+$/, '')}/v1/traces`;
    if (isHttpAddress(address)) return address;
    return ignore(endpoint, 'it must be an http or https address; no traces are sent');
  }

  function ratio(): number {
    const name = given(env, 'OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
    const argument = Number(given(env, 'OTEL_TRACES_SAMPLER_ARG') ?? '1');
    const hint = `the samplers are ${Object.keys(samplers).join(', ')}; all messages are recorded`;
    if (!Object.hasOwn(samplers, name)) ignore('OTEL_TRACES_SAMPLER', hint);
    else if (samplers[name] !== undefined) return samplers[name];
    else if (argument >= 0 && argument <= 1) return argument;
    else ignore('OTEL_TRACES_SAMPLER_ARG', 'it must be a number from 0 to 1; all messages are recorded');
    return 1;
  }

  const url = isSent(env, 'TRACES') ? usableUrl() : undefined;
  return { collector: url === undefined ? undefined : { url, ratio: ratio() }, ignored };
}

/** What the standard variables of OpenTelemetry ask of the metrics. The exporter itself reads the others (address, headers, time-out, certificates). */
export function metricsWanted(env: Environment) {
  const addresses = ['OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
  const protocol = firstSet(env, ['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL']) ?? '';
  const intervalMs = millisecondsIn(env['OTEL_METRIC_EXPORT_INTERVAL'], 60_000);
  return {
    isOn: !isSwitchedOff(env),
    isSent: isSent(env, 'METRICS'),
    /** Its address, or the beginning of it. */
    collector: given(env, firstSet(env, addresses) ?? '') ?? 'http://localhost:4318',
    /** Variables with an address that is none, or a protocol that cannot be served. */
    unusable: [
      ...addresses.filter((name) => !isHttpAddress(given(env, name) ?? 'http://localhost')),
      ...(given(env, protocol) === 'grpc' ? [protocol] : []),
    ],
    intervalMs,
    timeoutMs: Math.min(intervalMs, millisecondsIn(env['OTEL_METRIC_EXPORT_TIMEOUT'], 30_000)),
  };
}

const mostMs = 2 ** 31 - 1;

/** As the standard has it, a text that is no such number counts as not set. */
function millisecondsIn(text: string | undefined, fallback: number): number {
  const number = Number(text);
  return Number.isInteger(number) && number > 0 && number <= mostMs ? number : fallback;
}
