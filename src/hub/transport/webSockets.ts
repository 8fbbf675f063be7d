import type { WebSocketOptions } from '@azure/event-hubs';
import { outboundAgent } from 'telemetry/network/outbound.ts';
import { type ClientOptions, WebSocket } from 'ws';

/*
 * AMQP over WebSockets, at the port of HTTPS: through firewalls, and through the proxy of the process (D405, D409).
 */

/** The hub tells AMQP from HTTP by the path. */
const paths = { events: '$servicebus/websocket', service: '$iothub/websocket' } as const;

/** The clients themselves wait without limit. Less than they are given by their users. */
const handshakeMs = 9_000;

/** @param host `name`, `name:port` or `[address]:port`; the port is 443 when there is none */
export const addressOf = (host: string, path: keyof typeof paths): string => `wss://${host}/${paths[path]}`;

export const webSocketSettings = (): ClientOptions => ({ agent: outboundAgent, handshakeTimeout: handshakeMs });

/**
 * For the client of events. It makes a broken address of an IPv6 address, and so is not asked for one.
 * @param host of the event endpoint
 */
export function eventWebSockets(host: string): WebSocketOptions {
  const address = addressOf(host, 'events');
  class EventWebSocket extends WebSocket {
    constructor(_address: string, protocols: string[], options: ClientOptions) {
      super(address, protocols, options);
    }
  }
  return { webSocket: EventWebSocket as never, webSocketConstructorOptions: webSocketSettings() };
}

/**
 * For a connection of the AMQP library itself, as a look-up of the event endpoint opens one.
 * @param host of the hub
 */
export const connectionWebSockets = (host: string) => ({
  ...{ webSocket: WebSocket as never, url: addressOf(host, 'service') },
  ...{ protocol: ['AMQPWSB10'], options: webSocketSettings() },
});
