import { connect, createServer, type Socket } from 'node:net';
import { listening } from '../../iot-hub-emulator/test/support/listening.ts';

/** What a proxy does with the connections that it is asked for. */
export type ProxyBehaviour =
  | 'leads'
  /** HTTP 403. */
  | 'refuses'
  /** HTTP 407, unless the right credentials come along. */
  | 'asks'
  /** Reads the request, and hangs up. */
  | 'cuts'
  /** Reads the request, and never answers. */
  | 'keeps silent'
  /** Answers after a while. */
  | 'hesitates';

const user = 'proxy-user';
const password = 'p@ss:w/rd';
const hesitationMs = 300;

/** An outbound proxy that knows CONNECT and nothing else. Listens on the loopback interface. */
export async function startConnectProxy() {
  /** `host:port` of each request, in order. */
  const asked: string[] = [];
  /** Ports from which it has connected to addresses. */
  const ports = new Set<number | undefined>();
  const led = new Set<Socket>();
  let behaviour: ProxyBehaviour = 'leads';
  const right = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

  function lead(socket: Socket, host: string, port: number, rest: Buffer) {
    const onward = connect({ host, port });
    onward.on('error', () => socket.destroy());
    onward.once('connect', () => {
      ports.add(onward.localPort);
      socket.write('HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n');
      if (rest.length > 0) onward.write(rest);
      led.add(socket);
      socket.pipe(onward).pipe(socket);
    });
    socket.once('close', () => onward.destroy());
    onward.once('close', () => socket.destroy());
  }

  function answer(socket: Socket, head: string, rest: Buffer) {
    const [, authority = '', host = '', port = ''] = /^CONNECT ((.+):(\d+)) HTTP\/1\.1\r\n/.exec(head) ?? [];
    asked.push(authority);
    const [, credentials] = /^proxy-authorization: (.*)$/im.exec(head) ?? [];
    const refuse = (status: string, more = '') => socket.end(`HTTP/1.1 ${status}\r\n${more}Content-Length: 0\r\n\r\n`);
    const onward = () => lead(socket, host.replace(/^\[(.*)\]$/, '$1'), Number(port), rest);
    switch (behaviour) {
      case 'leads':
        return onward();
      case 'hesitates':
        return setTimeout(onward, hesitationMs);
      case 'refuses':
        return refuse('403 Forbidden');
      case 'asks':
        return credentials === right
          ? onward()
          : refuse('407 Proxy Authentication Required', 'Proxy-Authenticate: Basic realm="test"\r\n');
      case 'cuts':
        return socket.destroy();
      case 'keeps silent':
        return;
    }
  }

  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('close', () => led.delete(socket));
    let head = Buffer.alloc(0);
    const read = (piece: Buffer) => {
      head = Buffer.concat([head, piece]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.off('data', read);
      socket.pause();
      answer(socket, head.subarray(0, end + 2).toString('latin1'), head.subarray(end + 4));
    };
    socket.on('data', read);
  });
  const { port, sockets, close } = await listening(server);
  const place = `127.0.0.1:${port}`;
  const encoded = encodeURIComponent(password);

  return {
    url: `http://${place}`,
    /** With the right ones, which have characters that a URL cannot have. */
    urlWithCredentials: `http://${user}:${encoded}@${place}`,
    /** The password as it stands in that URL, and as it is. */
    ...{ secrets: [password, encoded, right.slice('Basic '.length)], asked, ports },
    open: () => sockets.size,
    behave(how: ProxyBehaviour) {
      behaviour = how;
    },
    /** Ends the connections that it has led somewhere; returns how many. */
    cut() {
      const count = led.size;
      for (const socket of led) socket.destroy();
      return count;
    },
    close,
  };
}

export type ConnectProxy = Awaited<ReturnType<typeof startConnectProxy>>;
