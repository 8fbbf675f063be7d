import type { HubEvent } from '../../src/protocol/event.ts';

interface Given {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly device?: string | undefined;
  readonly sequenceNumber?: number;
  readonly systemProperties?: Readonly<Record<string, unknown>>;
}

/** An event as the hub client hands it over; an object as body becomes JSON. */
export function hubEvent({
  properties = {},
  body = {},
  device = 'd1',
  sequenceNumber = 7,
  systemProperties,
}: Given = {}): HubEvent {
  const raw = body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  return {
    body: raw,
    properties,
    systemProperties: {
      ...(device === undefined ? {} : { 'iothub-connection-device-id': device }),
      'iothub-message-source': 'Telemetry',
      ...systemProperties,
    },
    sequenceNumber,
    offset: String(sequenceNumber * 1000),
    enqueuedTimeUtc: new Date('2026-01-02T03:04:05.678Z'),
  };
}

/** What an event costs in tests that are not about what bodies cost. */
export const bodyBytes = ({ body }: HubEvent): number => (body as Uint8Array).byteLength;
