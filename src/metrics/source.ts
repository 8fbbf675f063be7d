import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import type { MetricProducer } from '@opentelemetry/sdk-metrics';
import type { MeterWithReadings } from './meter.ts';
import { createProducer } from './producer.ts';

/** What is reported, and whose it is. */
export interface Report {
  readonly meter: Pick<MeterWithReadings, 'readings'>;
  /** When counting began, in ms since 1970. */
  readonly since: number;
  /** `service.name`, unless a standard variable says otherwise. */
  readonly service: string;
  readonly version: string;
  /** Tells this process from all others. */
  readonly instance: string;
}

/** The report as the SDK's readers take it. */
export function sourceOf({ meter, since, service, version, instance }: Report): {
  readonly producer: MetricProducer;
  readonly resource: Resource;
} {
  const own = { 'service.name': service, 'service.version': version, 'service.instance.id': instance };
  return {
    producer: createProducer(meter, since),
    resource: defaultResource()
      .merge(resourceFromAttributes(own))
      .merge(detectResources({ detectors: [envDetector] })),
  };
}
