import { createServer, type Socket } from 'node:net';
import { generate, type ISubscribePacket, parser } from 'mqtt-packet';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Broker as Client, clientOptions, connectToBroker } from '../../edge/src/modules/brokerConnection.ts';
import type { Reply } from '../../edge/src/modules/messages.ts';
import { createReplyTopics, type ReplyTopics } from '../../edge/src/modules/routing.ts';
import { createLog } from '../../edge/src/observing/log.ts';
import { createMeter } from '../../edge/src/observing/metrics.ts';
import { portForTest, startForEach, startForTest } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { type BrokerUser, startBroker } from '../../sandbox/edge/broker.ts';
import { connectModule, type TestModule } from './support/testEdge.ts';
import { modules } from './support/testProxy.ts';

// The connection of the proxy to a real broker (M11, M13).

const users: Record<string, BrokerUser> = {
  'edge-proxy': { password: 'p', publish: ['press/in/#'], subscribe: ['press/out/#', 'bus/out/#'] },
  press: { password: 'press-secret', publish: ['press/#', 'bus/#', 'other/#'], subscribe: ['press/in/#'] },
};

const broker = startForEach(() => startBroker({ users }));
let client: Client;
let press: TestModule;
let replies: Reply[];
let lines: Record<string, unknown>[];
let topics: ReplyTopics;
beforeEach(() => {
  [replies, lines] = [[], []];
  topics = createReplyTopics(modules.slice(0, 2), () => {});
});
afterEach(async () => {
  await client?.close();
  await press?.close();
});

function connect(password = 'p', url = broker.url) {
  client = connectToBroker({
    access: () => ({ url, username: 'edge-proxy', password, clientId: 'edge' }),
    topics,
    onReply: (reply) => void replies.push(reply),
    log: createLog('info', { write: (line) => void lines.push(JSON.parse(line)) }),
    meter: createMeter(),
  });
}
async function connected() {
  connect();
  await expect.poll(() => client.current()).toBeDefined();
  press = await connectModule({ url: broker.url, id: 'press' });
  const connection = client.current();
  if (connection === undefined) throw new Error('not connected');
  return connection;
}
const logged = (event: string) => lines.filter((line) => line['event'] === event);

describe('the connection to the broker', () => {
  it('receives the replies of modules, and no other messages', async () => {
    await connected();
    expect(broker.subscriptionsOf('edge-proxy')).toEqual(['press/out/+/+', 'bus/out/+/+']);
    press.publish('press/out/a/b', 'bad', false);
    press.publish('other/7/r', 'x');
    press.publish('press/out/7/r/more', 'x');
    press.publish('press/out/7/r', 'x');
    press.publish('bus/out//', '', true);
    await expect.poll(() => replies.length).toBeGreaterThan(2);
    expect(replies.map(({ payload, ...reply }) => ({ ...reply, text: payload.toString() }))).toEqual([
      { topic: 'press/out', status: 'a', requestId: 'b', text: 'bad', isRetained: false },
      { topic: 'press/out', status: '7', requestId: 'r', text: 'x', isRetained: false },
      { topic: 'bus/out', status: '', requestId: '', text: '', isRetained: false },
    ]);
  });

  it('says what was retained at the broker', async () => {
    press = await connectModule({ url: broker.url, id: 'press' });
    await press.client.publishAsync('press/out/7/r', 'x', { retain: true });
    connect();
    await expect.poll(() => replies).toHaveLength(1);
    expect(replies).toMatchObject([{ topic: 'press/out', isRetained: true }]);
  });

  it('publishes to modules at once, and nothing while it is closed', async () => {
    const { publish, isSubscribedTo, closed } = await connected();
    expect([isSubscribedTo('press/out'), isSubscribedTo('camera/out')]).toEqual([true, false]);
    expect(publish('press/in/stop/1', Buffer.from('x'))).toBe(true);
    expect(await press.next()).toMatchObject({ topic: 'press/in/stop/1', text: 'x', isRetained: false });
    const late = await startForTest(connectModule({ url: broker.url, id: 'press' }));
    publish('press/in/stop/2', Buffer.from('y'));
    expect(await late.next()).toMatchObject({ topic: 'press/in/stop/2' });
    broker.disconnect('edge-proxy');
    expect(await closed).toBe('the connection was closed');
    expect([isSubscribedTo('press/out'), publish('press/in/stop/1', Buffer.from('x'))]).toEqual([false, false]);
  });

  it('publishes nothing that would fill the memory', async () => {
    const { publish } = await connected();
    expect([publish('press/in/stop/1', Buffer.alloc(33_554_433)), press.received]).toEqual([false, []]);
  });

  it('is closed when a packet is too large, and opened again', async () => {
    const { closed } = await connected();
    press.publish('press/out/0/1', Buffer.alloc(4_194_305));
    expect(await closed).toMatch(/^a module sent a packet of 41943\d\d bytes$/);
    await expect.poll(() => logged('broker.connected')).toHaveLength(2);
    expect(logged('broker.waiting')).toMatchObject([{ reason: expect.stringMatching(/^a module sent/) }]);
    expect(replies).toEqual([]);
  });

  it('says why the broker refuses it', async () => {
    connect('wrong');
    await expect.poll(() => client.waitingFor()).toMatch(/^the broker: Connection refused: /);
    await client.resubscribe();
    expect(logged('broker.waiting')).toMatchObject([{ reason: expect.stringMatching(/^Connection refused: /) }]);
    expect(logged('broker.connected')).toEqual([]);
  });

  it('ends at once while it is being opened', async () => {
    connect();
    await client.close();
    expect([client.current(), broker.subscriptionsOf('edge-proxy')]).toEqual([undefined, []]);
  });

  /** A broker that connects everybody, and does with subscriptions what the test says. It ends no connection by itself. */
  async function urlOfBroker(subscribe: (packet: ISubscribePacket, socket: Socket) => void) {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      const packets = parser();
      packets.on('packet', (packet) => {
        if (packet.cmd === 'connect') socket.write(generate({ cmd: 'connack', returnCode: 0, sessionPresent: false }));
        if (packet.cmd === 'subscribe') subscribe(packet, socket);
      });
      socket.on('data', (bytes) => void packets.parse(bytes)).on('error', () => {});
    });
    return `mqtt://127.0.0.1:${await portForTest(server)}`;
  }

  it('is tried again when the broker does not answer its subscription', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let connections = 0;
    const deaf = () => {
      connections += 1;
    };
    connect('p', await urlOfBroker(deaf));
    await vi.waitFor(() => expect(connections).toBe(1), { interval: 5 });
    await vi.advanceTimersByTimeAsync(20_000);
    await vi.waitFor(() => expect(client.waitingFor()).toBe('the broker: no response within 20 s'), { interval: 5 });
  });

  it('ends at once when the broker does not end it', async () => {
    const granting = ({ messageId = 0, subscriptions }: ISubscribePacket, socket: Socket) =>
      void socket.write(generate({ cmd: 'suback', messageId, granted: subscriptions.map(() => 0) }));
    connect('p', await urlOfBroker(granting));
    await expect.poll(() => client.current()).toBeDefined();
    await client.close();
    expect(client.current()).toBeUndefined();
  });
});

it('the client of the broker keeps nothing for later, and has what the configuration gives it', () => {
  const usual = {
    ...{ protocolVersion: 4, clean: true, queueQoSZero: false, resubscribe: false, reconnectPeriod: 0 },
    ...{ connectTimeout: 10_000, keepalive: 15 },
  };
  expect(clientOptions({ url: 'mqtt://h' })).toEqual(usual);
  const given = { username: 'u', password: 'p', ca: 'ca', key: 'k', clientId: 'c' };
  const options = clientOptions({ url: 'mqtt://h', ...given, certificate: 'cert' });
  expect(options).toEqual({ ...usual, ...given, cert: 'cert' });
});
