import { exportersIn, given, isHttpAddress, isSent, isSwitchedOff, protocolIn } from '../metrics/signals.ts';

/** Which traces are wanted, by the standard variables of OpenTelemetry (D118). */
export interface TraceSettings {
  /** Undefined: no traces. */
  readonly collector: Collector | undefined;
  readonly ignored: readonly IgnoredVariable[];
}

interface Collector {
  /** Of the traces: `http://collector:4318/v1/traces`. */
  readonly url: string;
  /** Share of the messages whose spans are recorded, 0 to 1. */
  readonly ratio: number;
}

/** A variable that asks for what this service does not have. */
interface IgnoredVariable {
  readonly variable: string;
  readonly hint: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const defaultUrl = 'http://localhost:4318';

/** By the value of OTEL_TRACES_SAMPLER. Nothing has a parent, so that both forms of each mean the same. */
const samplers: Readonly<Record<string, (argument: () => number) => number>> = {
  always_on: () => 1,
  parentbased_always_on: () => 1,
  always_off: () => 0,
  parentbased_always_off: () => 0,
  traceidratio: (argument) => argument(),
  parentbased_traceidratio: (argument) => argument(),
};

export function traceSettings(env: Environment): TraceSettings {
  const ignored: IgnoredVariable[] = [];
  const ignore = (variable: string, hint: string) => ignored.push({ variable, hint });
  if (!isSwitchedOff(env) && exportersIn(env, 'TRACES')?.some((name) => name !== 'otlp' && name !== 'none')) {
    ignore('OTEL_TRACES_EXPORTER', 'the exporters are otlp and none');
  }

  /** Undefined when it is not usable. */
  function url(): string | undefined {
    const own = given(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
    const general = given(env, 'OTEL_EXPORTER_OTLP_ENDPOINT') ?? defaultUrl;
    const address = own ?? `${general.replace(/\/+$/, '')}/v1/traces`;
    if (isHttpAddress(address)) return address;
    ignore(
      own === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
      'it must be an http or https address; no traces are sent',
    );
    return undefined;
  }

  /** False when no collector of that protocol can be served. */
  function isHttp(): boolean {
    const found = protocolIn(env, 'TRACES');
    if (found === undefined) return true;
    const { variable, protocol } = found;
    if (protocol === 'grpc') ignore(variable, 'only OTLP over HTTP is supported; no traces are sent');
    else if (protocol !== 'http/json') ignore(variable, 'spans are sent as http/json');
    return protocol !== 'grpc';
  }

  function argument(): number {
    const text = given(env, 'OTEL_TRACES_SAMPLER_ARG') ?? '1';
    const ratio = Number(text);
    if (ratio >= 0 && ratio <= 1) return ratio;
    ignore('OTEL_TRACES_SAMPLER_ARG', 'it must be a number from 0 to 1; all messages are recorded');
    return 1;
  }

  function ratio(): number {
    const name = given(env, 'OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
    if (Object.hasOwn(samplers, name)) return samplers[name]?.(argument) ?? 1;
    ignore('OTEL_TRACES_SAMPLER', `the samplers are ${Object.keys(samplers).join(', ')}; all messages are recorded`);
    return 1;
  }

  const address = isSent(env, 'TRACES') && isHttp() ? url() : undefined;
  return { collector: address === undefined ? undefined : { url: address, ratio: ratio() }, ignored };
}
