import type { Socket } from 'node:net';

/** Who serves a connection, by what its client says first. */
export interface Speakers {
  amqp(socket: Socket): void;
  mqtt(socket: Socket): void;
  http(socket: Socket): void;
}

const silenceMs = 30_000;

/**
 * Serve every protocol on one port: an AMQP client begins with `AMQP`, an MQTT client with a CONNECT packet, an HTTP
 * client (it can turn into a WebSocket) with another capital letter; with anything else the protocol that the port is meant for
 * has to deal. Who says nothing for half a minute is disconnected.
 */
export function speakAny(speakers: Speakers, meant: keyof Speakers): (socket: Socket) => void {
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
      speakers[protocolOf(chunk[0]) ?? meant](socket);
      process.nextTick(() => socket.resume());
    });
  };
}

function protocolOf(first = 0): keyof Speakers | undefined {
  const letter = String.fromCharCode(first);
  if (first === 0x10) return 'mqtt';
  if (letter === 'A') return 'amqp';
  return /[B-Z]/.test(letter) ? 'http' : undefined;
}
