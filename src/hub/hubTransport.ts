import type { WebSocketOptions } from '@azure/event-hubs';
import { outboundAgent } from '@device-messaging/telemetry/outbound.ts';
import type { ClientOptions, WebSocket as WebSocketClass } from 'ws';
import type { Settings } from '../settings/config.ts';

export type WebSockets = ReturnType<typeof webSocketsBy>;

let webSockets: WebSockets | undefined;

/** Chooses how the process connects to the hub by AMQP (D405). The library for WebSockets is loaded only for them. */
export async function useHubTransport({ transport }: Pick<Settings['hub'], 'transport'>): Promise<void> {
  webSockets = transport === 'websockets' ? webSocketsBy((await import('ws')).WebSocket) : undefined;
}

/** How to connect over WebSockets; undefined for AMQP over TLS. */
export const overWebSockets = (): WebSockets | undefined => webSockets;

/** The hub tells AMQP from HTTP by the path. */
const paths = { events: '$servicebus/websocket', service: '$iothub/websocket' } as const;

/** The clients themselves wait without limit. Less than they are given by their users. */
const handshakeMs = 9_000;

/** @param host `name`, `name:port` or `[address]:port`; the port is 443 when there is none */
const addressOf = (host: string, path: keyof typeof paths): string => `wss://${host}/${paths[path]}`;

const webSocketSettings = (): ClientOptions => ({ agent: outboundAgent, handshakeTimeout: handshakeMs });

/** AMQP over WebSockets, at the port of HTTPS: through firewalls, and through the proxy of the process (D405, D409). */
const webSocketsBy = (WebSocket: typeof WebSocketClass) => ({
  addressOf,
  webSocketSettings,
  /** For the client of events, which would make a broken address of an IPv6 address. @param host of the event endpoint */
  eventWebSockets(host: string): WebSocketOptions {
    const address = addressOf(host, 'events');
    class EventWebSocket extends WebSocket {
      constructor(_address: string, protocols: string[], options: ClientOptions) {
        super(address, protocols, options);
      }
    }
    return { webSocket: EventWebSocket as never, webSocketConstructorOptions: webSocketSettings() };
  },
  /** For a connection of the AMQP library itself, as a look-up of the event endpoint opens one. @param host of the hub */
  connectionWebSockets: (host: string) => ({
    ...{ webSocket: WebSocket as never, url: addressOf(host, 'service') },
    ...{ protocol: ['AMQPWSB10'], options: webSocketSettings() },
  }),
});
