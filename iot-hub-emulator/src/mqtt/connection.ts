import type { Duplex } from 'node:stream';
import { type IConnectPacket, type Packet, type Parser, parser, writeToStream } from 'mqtt-packet';
import { maxEventSize } from '../events/events.ts';
import type { DeviceLogin } from '../identity/access.ts';
import { nameOf } from '../identity/registry.ts';
import { certificatesOf } from '../network/clientCertificates.ts';
import { endSoon } from '../network/listener.ts';
import { Refusal } from '../values/refusal.ts';
import { readIdentity } from './identity.ts';
import type { MqttHub } from './mqttHub.ts';
import { createSession, ProtocolViolation, type Session } from './session.ts';

/** One device's connection. */
export interface MqttConnection {
  /** Close it; `reason` goes to the journal. */
  end(reason: string): void;
}

const lingerMs = 1000;
const longestSilenceSeconds = 1767;
const maxPacketSize = maxEventSize + 65_535 + 16;
const maxTimerMs = 2 ** 31 - 1;
const returnCodes: Readonly<Record<string, number>> = {
  'amqp:not-implemented': 1,
  'com.microsoft:device-container-throttled': 3,
  'amqp:unauthorized-access': 5,
};

/** Serve a device on this socket, from its CONNECT packet to the end. Whatever it sends affects its own connection only. */
export function serve(socket: Duplex, hub: MqttHub): MqttConnection {
  let login: DeviceLogin | undefined;
  let session: Session | undefined;
  let leave: (() => void) | undefined;
  let ended = false;
  let silence = setTimeout(() => end('no CONNECT packet came'), hub.idle.beginning);
  let expiry: NodeJS.Timeout | undefined;

  const send = (packet: Packet): void => {
    if (socket.writable) writeToStream(packet, socket);
    if (socket.writableLength > hub.bounds.unread) end('it does not read what it is sent');
  };

  const end = (reason: string, broken = true): void => {
    if (ended) return;
    ended = true;
    clearTimeout(silence);
    clearTimeout(expiry);
    session?.stop(broken);
    leave?.();
    if (login) hub.journal.add({ kind: 'disconnected', ...nameOf(login.identity), protocol: 'mqtt', reason });
    endSoon(socket);
    setTimeout(() => socket.destroy(), lingerMs).unref();
  };
  const connection: MqttConnection = { end };
  const entry = hub.connections.open({
    protocol: 'mqtt',
    kind: 'device',
    deviceId: undefined,
    socket,
    close: (reason) => end(reason?.description ?? 'the hub closed it'),
    expire: () => login && Number.isFinite(login.expiresAt) && end('the token expired'),
  });

  const endWhenExpired = (expiresAt: number): void => {
    const left = expiresAt - hub.now();
    if (left <= 0) end('the token expired');
    else expiry = setTimeout(endWhenExpired, Math.min(left, maxTimerMs), expiresAt);
  };

  const admit = (packet: IConnectPacket): void => {
    if (packet.protocolVersion !== 4) throw new Refusal('amqp:not-implemented', 'Only MQTT 3.1.1 is served.');
    hub.throttle.take('connect');
    const { deviceId, moduleId, modelId, client } = readIdentity(packet);
    entry.deviceId = deviceId;
    entry.client = client?.slice(0, 256);
    const refused = hub.faults.strike('refuse-token', { connections: 'device', deviceId });
    if (refused?.fault.answer === 'silent') return;
    if (refused) throw new Refusal('amqp:unauthorized-access', 'A fault refuses this token.');
    const credentials = { token: packet.password?.toString('utf8'), certificates: certificatesOf(socket) };
    const proven = hub.access.login(deviceId, moduleId, credentials);
    hub.models.named(proven.identity.clientId, modelId);
    login = { ...proven, modelId };
    const short = hub.faults.strike('token-life', { connections: 'device', deviceId });
    const expiresAt = Math.min(login.expiresAt, hub.now() + (short?.fault.ms ?? Number.POSITIVE_INFINITY));
    leave = hub.presence.enter(login.identity.clientId, ({ description }) => end(description));
    hub.journal.add({ kind: 'connected', ...nameOf(login.identity), protocol: 'mqtt' });
    session = createSession({ login, clean: packet.clean === true, will: packet.will, hub, connection: entry, send });
    send({ cmd: 'connack', returnCode: 0, sessionPresent: session.present });
    clearTimeout(silence);
    const seconds = Math.min(1.5 * (packet.keepalive || longestSilenceSeconds), longestSilenceSeconds);
    silence = setTimeout(() => end('nothing came within one and a half times the keep-alive'), seconds * 1000);
    endWhenExpired(expiresAt);
    if (!ended) session.start();
  };

  const connect = (packet: IConnectPacket): void => {
    try {
      admit(packet);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const reason = error.message;
      hub.journal.add({ kind: 'refused', deviceId: packet.clientId.slice(0, 128), protocol: 'mqtt', reason });
      send({ cmd: 'connack', returnCode: returnCodes[error.condition] ?? 5, sessionPresent: false });
      end(reason);
    }
  };

  const handle = (packet: Packet): void => {
    if (ended) return;
    silence.refresh();
    if (packet.cmd === 'connect' && !session) connect(packet);
    else if (packet.cmd === 'disconnect') end('the device disconnected', false);
    else if (packet.cmd === 'pingreq' && session) send({ cmd: 'pingresp' });
    else if (session) session.handle(packet);
    else end(`${packet.cmd} came before connect`);
  };

  const packets = parser({ protocolVersion: 4 });
  packets.on('packet', handle);
  packets.on('error', () => end('a packet was malformed'));
  socket.on('data', (chunk) => {
    if (ended) return;
    socket.cork(); // the answers to all packets of a chunk leave together
    try {
      if (Math.max(packets.parse(chunk), announced(packets)) > maxPacketSize) end('a packet was too large');
    } catch (error) {
      end(error instanceof ProtocolViolation ? error.message : `a packet could not be handled: ${error}`);
    } finally {
      socket.uncork();
    }
  });
  socket.on('error', () => end('the connection broke'));
  socket.on('close', () => end('the connection closed'));
  return connection;
}

/** Bytes of the packet of which a part has come, without its header, as the header says: a part that its typings leave out. */
function announced(packets: Parser): number {
  return (packets as unknown as { readonly packet: { readonly length: number } }).packet.length;
}
