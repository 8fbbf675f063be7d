/**
 * AMQP in plain TCP and administration over HTTP; and with TLS AMQP, MQTT, REST and WebSockets. Each of the TLS ports
 * speaks all of these, so one is enough; they are several to have the numbers that clients take for granted.
 */
export interface HubPorts {
  amqp: number;
  amqps: number;
  mqtts: number;
  /** The same as `amqps` unless asked for. WebSocket clients go to 443, whatever one tells them. */
  https: number;
  admin: number;
}
