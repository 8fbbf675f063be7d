import type { Socket } from 'node:net';

/** What serves a connection, by protocol. */
export interface ProtocolHandlers {
  amqp(socket: Socket): void;
  mqtt(socket: Socket): void;
  http(socket: Socket): void;
}

/**
 * Serve every protocol on one port: an AMQP client begins with `AMQP`, an MQTT client with a CONNECT packet, an HTTP
 * client (it can turn into a WebSocket) with another capital letter; anything else goes to the protocol that the port is
 * meant for. A client that sends nothing for `silenceMs` is disconnected.
 */
export function detectProtocol(
  handlers: ProtocolHandlers,
  fallback: keyof ProtocolHandlers,
  silenceMs: number,
): (socket: Socket) => void {
  return (socket) => {
    const silence = setTimeout(() => socket.destroy(), silenceMs);
    const ignore = () => undefined;
    socket.on('error', ignore);
    socket.once('close', () => clearTimeout(silence));
    socket.once('data', (chunk: Buffer) => {
      clearTimeout(silence);
      socket.off('error', ignore);
      socket.pause();
      socket.unshift(chunk);
      handlers[protocolOf(chunk[0]) ?? fallback](socket);
      process.nextTick(() => socket.resume());
    });
  };
}

function protocolOf(first = 0): keyof ProtocolHandlers | undefined {
  const letter = String.fromCharCode(first);
  if (first === 0x10) return 'mqtt';
  if (letter === 'A') return 'amqp';
  return /[B-Z]/.test(letter) ? 'http' : undefined;
}
