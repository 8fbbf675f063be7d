import { within } from '../concurrency/waiting.ts';
import type { Troubles } from '../log/troubles.ts';
import type { Report } from './producer.ts';
import type { ProgramResource } from './resource.ts';
import type { MetricsWanted } from './standardVariables.ts';

/** The last export must not delay a stop. */
const lastExportMs = 2_000;

const source = 'metrics collector';
const message = 'metrics cannot be sent to the collector';

/** Sends metrics to the collector, if the standard variables ask for that. Nothing waits for it, and its failures are logged (D118). */
export function startPeriodicExport(
  report: Report & ProgramResource,
  wanted: MetricsWanted,
  troubles: Troubles,
): { close(): Promise<void> } {
  // The trouble lasts until an export succeeds, also between two attempts.
  const raise = (diagnosis: object) => troubles.raise(source, { level: 'warn', message, diagnosis, still: () => ({}) });
  const failed = (error: unknown) => raise({ err: error });

  async function start(): Promise<(() => Promise<void>) | undefined> {
    const { sendToCollector } = await import('./otlp.ts');
    return sendToCollector(report, wanted, { failed, succeeded: () => troubles.clear(source) });
  }

  if (!wanted.isSent) return { close: async () => {} };
  if (wanted.unusable.length > 0) {
    raise({ unusable: wanted.unusable });
    return { close: async () => {} };
  }
  const starting = start().catch((error: unknown) => {
    failed(error);
    return undefined;
  });
  const end = async () => {
    const close = await starting;
    await close?.();
  };
  return { close: () => within(end(), lastExportMs).catch(failed) };
}
