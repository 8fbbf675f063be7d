import type { Log } from '../log/log.ts';
import { createTroubles } from '../log/troubles.ts';
import type { Traces } from './span.ts';
import { traceSettings } from './traceSettings.ts';

interface TracesOptions {
  /** `service.name`, unless OTEL_SERVICE_NAME says otherwise. */
  readonly name: string;
  readonly version: string;
  readonly instance: string;
  readonly log: Log;
}

/** Undefined unless the environment asks for traces (D118): then nothing of OpenTelemetry's trace libraries is loaded. */
export async function openTraces(
  env: NodeJS.ProcessEnv,
  { name, version, instance, log }: TracesOptions,
): Promise<Traces | undefined> {
  const { collector, ignored } = traceSettings(env);
  for (const variable of ignored) log.warn(variable, 'variable for traces is not used');
  if (collector === undefined) return undefined;
  const { url, ratio } = collector;
  const { startRecording } = await import('./recording.ts');
  log.info({ collector: new URL(url).host, ratio }, 'spans are sent to the collector');
  const resource = { 'service.name': name, 'service.version': version, 'service.instance.id': instance };
  return startRecording({ url, ratio, resource, troubles: createTroubles(log) });
}
