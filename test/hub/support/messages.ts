/** A message of a device, as it stands in the hub. */
export interface Message {
  readonly device: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly body: unknown;
}

type Properties = Readonly<Record<string, string>>;

export const v2 = (action: string, body: unknown, more: Properties = {}, device = 'pump-1'): Message => ({
  device,
  properties: { msgType: 'action', action, version: '2', correlationId: action, ack: 'all', ...more },
  body,
});

export const v1 = (eventType: string, body: unknown, more: Properties = {}): Message => ({
  device: 'gateway-1',
  properties: { 'svc-messagetype': 'platformEvent', eventType, id: eventType, ack: 'all', ...more },
  body,
});
