import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Troubles } from '../log/troubles.ts';

/** Reports spans that do not reach the collector, which the library does in silence. */
export interface ExportWatch {
  readonly exporter: SpanExporter;
  /** Stands before the processor that queues the spans. */
  readonly processor: SpanProcessor;
  failed(error: unknown): void;
}

const failing = 'traces';
const dropping = 'traces: queue';

/** @param mostQueued the limit of that queue; the library drops what comes beyond it */
export function watchExport(to: SpanExporter, mostQueued: number, troubles: Troubles): ExportWatch {
  let queued = 0;

  const failed = (error: unknown) =>
    troubles.raise(failing, {
      level: 'warn',
      message: 'spans cannot be delivered to the collector',
      diagnosis: { err: error },
    });

  return {
    failed,
    exporter: {
      export(spans: ReadableSpan[], done) {
        queued -= spans.length;
        to.export(spans, (result) => {
          if (result.code === 0) troubles.clear(failing);
          else failed(result.error ?? new Error('no reason given'));
          done(result);
        });
      },
      shutdown: () => to.shutdown(),
    },
    processor: {
      onStart() {},
      onEnd() {
        if (queued < mostQueued) queued += 1;
        else
          troubles.raise(dropping, {
            level: 'warn',
            message: 'spans are dropped: the collector takes them too slowly',
          });
      },
      forceFlush: async () => {},
      shutdown: async () => {},
    },
  };
}
