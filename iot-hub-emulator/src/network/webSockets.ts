import type { Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, WebSocketServer } from 'ws';
import { endSoon, layer } from './listener.ts';

const protocols: Readonly<Record<string, 'amqp' | 'mqtt'>> = { AMQPWSB10: 'amqp', amqp: 'amqp', mqtt: 'mqtt' };

/**
 * Let WebSockets through an HTTP server: AMQP and MQTT by their subprotocols, on any path, so on those of IoT Hub
 * (`/$iothub/websocket`) and Event Hubs (`/$servicebus/websocket`). One of another subprotocol is refused,
 * and one that sends a message of more than `maxPayload` bytes ends.
 */
export function acceptWebSockets(
  server: Server,
  accept: { amqp(stream: Duplex): void; mqtt(stream: Duplex): void },
  maxPayload: number,
): void {
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload,
    handleProtocols: (offered) => [...offered].find((name) => Object.hasOwn(protocols, name)) ?? false,
  });
  server.on('upgrade', (request, socket, head) => {
    const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
    if (!offered.some((name) => Object.hasOwn(protocols, name))) {
      socket.write('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n');
      endSoon(socket);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const stream = createWebSocketStream(webSocket);
      layer(stream, socket);
      stream.on('error', () => undefined);
      webSocket.once('close', () => setImmediate(() => stream.destroy())); // of one that broke, it would wait for the end
      accept[protocols[webSocket.protocol] ?? 'amqp'](stream);
    });
  });
}
