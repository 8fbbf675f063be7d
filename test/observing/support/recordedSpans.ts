import type { Attributes, Span, SpanError, Traces } from '../../../src/observing/observation.ts';
import type { Publish } from '../../../src/observing/taps.ts';
import { courseOf } from '../../support/observed.ts';

/** A span as a test sees it: what it began with, its events, and what it ended with. */
export interface RecordedSpan {
  readonly name: string;
  readonly kind: string;
  readonly attributes: Attributes;
  readonly parent: string | undefined;
  readonly events: [name: string, attributes: Attributes][];
  readonly ends: [attributes: Attributes | undefined, error: SpanError | undefined][];
}

/** Traces that keep their spans here. */
export function recordedSpans(): { readonly traces: Traces; readonly spans: readonly RecordedSpan[] } {
  const spans: RecordedSpan[] = [];
  function begin(name: string, kind: string, attributes: Attributes, parent?: string): Span {
    const span: RecordedSpan = { name, kind, attributes, parent, events: [], ends: [] };
    spans.push(span);
    return {
      traceparent: `traceparent of ${name}`,
      child: (...[childName, childKind, childAttributes]) => begin(childName, childKind, childAttributes, name),
      event: (...event) => void span.events.push(event),
      end: (atEnd, error) => void span.ends.push([atEnd, error]),
    };
  }
  return {
    traces: { begin: ({ name, kind, attributes }) => begin(name, kind, attributes), close: async () => {} },
    spans,
  };
}

/** A message in work: its span is the first of `spans`, and `told` is what followers of it are told. */
export function recordedCourse() {
  const { traces, spans } = recordedSpans();
  const root = {
    name: 'root',
    kind: 'consumer',
    traceId: '',
    samplingKey: '',
    link: undefined,
    attributes: {},
  } as const;
  const told: Parameters<Publish>[] = [];
  return { observation: courseOf({ span: traces.begin(root), publish: (...all) => void told.push(all) }), told, spans };
}
