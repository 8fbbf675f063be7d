import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const anyClient = ['iot-hub-emulator/test/anyClient.test.ts'];
const unfinished = ['iot-hub-emulator/test/unfinished.test.ts'];

/** In the hub emulator: what only clients notice that are not written with Node's library of AMQP, and slow ones. */
export const amqpFaults: readonly Fault[] = [
  ...inFile(
    'iot-hub-emulator/src/amqp/link/sessions.ts',
    anyClient,
    {
      fault: 'writes transfers before the attach of their link',
      find: '    for (const link of attached.splice(0)) if (link.state.need_open()) session.output(link.local.attach);\n',
      replace: '',
      caughtBy: 'gets no transfer of a link before its attach, and every event',
    },
    {
      fault: 'sends on a new link what waited for an old one',
      find: '  if (waiting.every(isSendable)) return false;\n',
      replace: '  if (waiting.length > 0) return false;\n',
      caughtBy: 'gets nothing on the new link that waited for the old one',
    },
    {
      fault: 'takes a handle twice',
      find: 'if (remote.handles[handle]?.is_remote_open()) rules.broken(handleInUse);',
      replace: '',
      caughtBy: 'of the same handle ends the connection with the reason',
    },
    {
      fault: 'counts no links',
      find: '      links += 1;\n',
      replace: '',
      caughtBy: 'is refused with the connection when there are too many',
    },
  ),
  ...inFile('iot-hub-emulator/src/amqp/link/completeFrames.ts', anyClient, {
    fault: 'leaves out the null fields at the end',
    find: '  if (fields.length < count) fields.length = count;\n',
    replace: '',
    caughtBy: 'have all their fields, and so has what is in them',
  }),
  ...inFile('iot-hub-emulator/src/amqp/link/echo.ts', anyClient, {
    fault: 'answers an attach without its properties',
    find: '  local.attach.value[propertiesAt] = remote.attach.value[propertiesAt]; // with their types\n',
    replace: '',
    caughtBy: 'that answer an attach repeat its source, target and properties; those that refuse it have neither',
  }),
  ...inFile('iot-hub-emulator/src/amqp/link/links.ts', anyClient, {
    fault: 'takes two links of a name',
    find: 'if (taken.has(own)) throw',
    replace: 'if (own === undefined) throw',
    caughtBy: 'of the same name and direction is refused, and the first goes on',
  }),
  ...inFile('iot-hub-emulator/src/amqp/link/address.ts', anyClient, {
    fault: 'takes a URI for a name',
    find: "address.replace(/^amqps?:\\/\\/[^/]*/i, '')",
    replace: 'address',
    caughtBy: 'that is a whole URI is one of events, of requests, of services and of devices',
  }),
  ...inFile('iot-hub-emulator/src/mqtt/connection.ts', unfinished, {
    fault: 'waits for all of a packet that is too large',
    find: 'Math.max(packets.parse(chunk), announced(packets)) > maxPacketSize',
    replace: 'packets.parse(chunk) > maxPacketSize',
    caughtBy: 'a packet of MQTT that is too large is refused at its header, before a login and after it',
  }),
  ...inFile('iot-hub-emulator/src/network/listener.ts', unfinished, {
    fault: 'waits without end for a handshake',
    find: '      setTimeout(() => socket.destroy(), ms),',
    replace: '      setTimeout(() => socket.ref(), ms),',
    caughtBy: 'that sends half a ClientHello, and goes on byte by byte',
  }),
  ...inFile('iot-hub-emulator/src/rest/restServer.ts', unfinished, {
    fault: 'waits without end for the headers of a request',
    find: "  server.emit('listening');",
    replace: "  server.listenerCount('listening');",
    caughtBy: 'that sends half the headers of a request, be it its first or a later one',
  }),
];
