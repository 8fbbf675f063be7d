import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { connectedDevice } from './support/device.ts';
import { listening } from './support/listening.ts';
import { hubForAll } from './support/sharedHub.ts';

// Connections that do not get as far as a request, or announce one that nobody sends. The real limit is half a minute.

const hub = hubForAll({ rules: { idle: { beginning: 3_000 } } });
const patient = hubForAll({ devices: [{ deviceId: 'pump-1' }] });

const helloOf = async (): Promise<Buffer> => {
  const server = createServer();
  const { port, close } = await listening(server);
  const client = connectTls({ port, host: '127.0.0.1' });
  client.on('error', () => undefined);
  const [socket] = await once(server, 'connection');
  const [hello] = await once(socket, 'data');
  client.destroy();
  await close();
  return hello;
};
const raw = (port: number) => connect(port, '127.0.0.1').on('error', () => undefined);
const overTls = async (to = hub) => {
  const socket = connectTls({ port: to.ports.amqps, host: 'localhost', ca: readFileSync(to.caFile) });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
};
const end = (socket: ReturnType<typeof raw>): Promise<void> =>
  new Promise((resolve) => {
    socket.resume();
    if (socket.closed) resolve();
    socket.on('close', () => resolve());
  });

describe.concurrent('a client is disconnected', () => {
  test('that says nothing to a TLS port', () => end(raw(hub.ports.amqps)));
  test('that says nothing to the port of AMQP without TLS', () => end(raw(hub.ports.amqp)));

  test('that sends half a ClientHello, and goes on byte by byte', async () => {
    const hello = await helloOf();
    const socket = raw(hub.ports.mqtts);
    socket.write(hello.subarray(0, 100));
    let at = 100;
    const more = setInterval(() => socket.write(hello.subarray(at, ++at)), 50);
    await end(socket).finally(() => clearInterval(more));
  });
  test('that says nothing once TLS is there', async () => end(await overTls()));

  test('that sends half the headers of a request, be it its first or a later one', async () => {
    const half = 'GET /devices HTTP/1.1\r\nhost: localhost\r\n';
    const first = await overTls();
    first.write(half);
    await end(first);
    const later = await overTls();
    later.write(`${half}\r\n`);
    const [answer] = await once(later, 'data');
    expect(String(answer)).toContain('HTTP/1.1 401');
    later.write(half);
    await end(later);
  });
  test('that asks for a WebSocket of another protocol, is refused, and stays', async () => {
    const socket = await overTls();
    socket.allowHalfOpen = true;
    const asked = ['GET / HTTP/1.1', 'host: localhost', 'connection: upgrade', 'upgrade: websocket', '', ''];
    socket.write(asked.join('\r\n'));
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toContain('HTTP/1.1 400');
    const more = setInterval(() => socket.write('x'), 50);
    await end(socket).finally(() => clearInterval(more));
  });
  test('that sends half the headers of a request to the admin port', async () => {
    const socket = raw(hub.ports.admin);
    socket.write('GET / HTTP/1.1\r\nhost: local');
    await end(socket);
  });
});

test('a packet of MQTT that is too large is refused at its header, before a login and after it', async () => {
  const tooLong = [0x90, 0x80, 0x14]; // 327,696 bytes, one more than the hub takes
  const socket = await overTls(patient);
  socket.write(Buffer.from([0x10, ...tooLong]));
  await end(socket);
  const device = await connectedDevice(patient, 'pump-1');
  device.socket.write(Buffer.from([0x32, ...tooLong, 0]));
  await end(device.socket as never);
  expect(patient.journal.list({ kind: 'disconnected' })).toMatchObject([{ reason: 'a packet was too large' }]);
});
