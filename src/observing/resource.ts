import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';

/** Whose metrics they are. */
export interface ProgramResource {
  /** `service.name`, unless a standard variable says otherwise. */
  readonly service: string;
  readonly version: string;
  /** Tells this process from all others. */
  readonly instance: string;
}

/** The program as OpenTelemetry's SDK describes it, with what the standard variables add. */
export const resourceOf = ({ service, version, instance }: ProgramResource): Resource =>
  defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': service,
        'service.version': version,
        'service.instance.id': instance,
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
