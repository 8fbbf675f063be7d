import type { Log } from './log.ts';
import type { ProgramResource } from './resource.ts';
import { exportersIn, given, isHttpAddress, isSent, isSwitchedOff, protocolIn } from './signals.ts';
import type { Traces } from './span.ts';
import { createTroubles } from './troubles.ts';

interface TracesOptions extends Omit<ProgramResource, 'service'> {
  /** `service.name`, unless OTEL_SERVICE_NAME says otherwise. */
  readonly name: string;
  readonly log: Log;
}

/** Undefined unless the environment asks for traces (D118): then nothing of OpenTelemetry's trace libraries is loaded. */
export async function openTraces(
  env: NodeJS.ProcessEnv,
  { name: service, log, ...program }: TracesOptions,
): Promise<Traces | undefined> {
  const { collector, ignored } = traceSettings(env);
  for (const variable of ignored) log.warn(variable, 'variable for traces is not used');
  if (collector === undefined) return undefined;
  const { url, ratio } = collector;
  const { startRecording } = await import('./recording.ts');
  log.info({ collector: new URL(url).host, ratio }, 'spans are sent to the collector');
  return startRecording({ url, ratio, service, ...program, troubles: createTroubles(log) });
}

/** A variable that asks for what this service does not have. */
interface IgnoredVariable {
  readonly variable: string;
  readonly hint: string;
}

/**
 * The share of the messages whose spans are recorded, by the value of OTEL_TRACES_SAMPLER; undefined where its argument says it. Nothing
 * has a parent, so that both forms of each mean the same.
 */
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
 * @returns the address for them, `http://collector:4318/v1/traces`, and the share of the messages that are recorded, 0 to 1
 */
export function traceSettings(env: NodeJS.ProcessEnv) {
  const ignored: IgnoredVariable[] = [];
  const ignore = (variable: string, hint: string): undefined => void ignored.push({ variable, hint });
  if (!isSwitchedOff(env) && exportersIn(env, 'TRACES')?.some((name) => name !== 'otlp' && name !== 'none')) {
    ignore('OTEL_TRACES_EXPORTER', 'the exporters are otlp and none');
  }

  /** Undefined when it is not usable. */
  function usableUrl(): string | undefined {
    const { variable, protocol } = protocolIn(env, 'TRACES') ?? { variable: '', protocol: 'http/json' };
    if (protocol === 'grpc') return ignore(variable, 'only OTLP over HTTP is supported; no traces are sent');
    if (protocol !== 'http/json') ignore(variable, 'spans are sent as http/json');
    const own = given(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
    const general = given(env, 'OTEL_EXPORTER_OTLP_ENDPOINT') ?? 'http://localhost:4318';
    const address = own ?? `${general.replace(/\/+$/, '')}/v1/traces`;
    if (isHttpAddress(address)) return address;
    const blamed = own === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
    return ignore(blamed, 'it must be an http or https address; no traces are sent');
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
