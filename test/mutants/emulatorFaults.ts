import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

/** In the hub emulator: what it allows that IoT Hub does not allow, and what it forgets. */
export const emulatorFaults: readonly Fault[] = [
  ...inFile(
    'iot-hub-emulator/src/identity/access.ts',
    ['iot-hub-emulator/test/access.test.ts'],
    {
      fault: 'opens a module with the token of its device',
      find: "      if (path.length !== resource.path.length) throw unauthorized('The token is for another device.');\n",
      replace: '',
      caughtBy: 'a device does not log in as its module, even with the same key',
    },
    {
      fault: 'opens a module with the claim of its device',
      find: 'const own = clientId === clientIdOf(deviceId, moduleId);',
      replace: 'const own = clientId === clientIdOf(deviceId, moduleId) || clientId === deviceId;',
      caughtBy: 'a claim of a device logs in only what it covers',
    },
    {
      fault: 'opens all devices with the claim for one of them',
      find: "rights.has('deviceConnect') && covers(path, pathOf(deviceId, moduleId))",
      replace: "rights.has('deviceConnect') && covers([], pathOf(deviceId, moduleId))",
      caughtBy: 'a claim of such a policy for one device logs in only what it covers',
    },
    {
      fault: 'opens devices with the claim of any policy',
      find: "rights.has('deviceConnect') && covers",
      replace: 'rights.size > 0 && covers',
      caughtBy: 'a claim of a policy that lets none connect logs in only what it covers',
    },
  ),
  ...inFile(
    'iot-hub-emulator/src/identity/chain.ts',
    ['iot-hub-emulator/test/certificateProof.test.ts'],
    {
      fault: 'lets a device issue certificates',
      find: 'issuer.ca && certificate.checkIssued(issuer)',
      replace: 'certificate.checkIssued(issuer)',
      caughtBy: 'a device behind an authority does not get in behind one that says nothing of its use',
    },
    {
      fault: 'believes the name of an issuer',
      find: ' && certificate.verify(issuer.publicKey)',
      replace: '',
      caughtBy: 'a device behind an authority does not get in behind another authority of the same name',
    },
  ),
  ...inFile('iot-hub-emulator/src/network/listener.ts', ['iot-hub-emulator/test/x509.test.ts'], {
    fault: 'takes a session up again, without the certificates above that of the device',
    find: ', secureOptions: constants.SSL_OP_NO_TICKET',
    replace: '',
    caughtBy: 'each connection has a handshake of its own',
  }),
  ...inFile(
    'iot-hub-emulator/src/amqp/management.ts',
    ['iot-hub-emulator/test/amqp.test.ts'],
    {
      fault: 'tells whatever token a request has',
      find: 'return rights.has(hub.right) ? undefined : required();',
      replace: 'return rights.size > 0 ? undefined : required();',
      caughtBy:
        'management describes the hub to a request whose own token may not listen, on a connection that may only with the right to listen',
    },
    {
      fault: 'answers requests without a token',
      find: 'claims.find(hub.right, path) ? undefined : required()',
      replace: 'claims.find(hub.right, path) ? undefined : required() && undefined',
      caughtBy: 'management describes the hub to a connection without a token only with the right to listen',
    },
    {
      fault: 'answers policies that may only read the registry',
      find: 'claims.find(hub.right, path) ? undefined : required()',
      replace: "claims.find(hub.right, path) || claims.find('registryRead', path) ? undefined : required()",
      caughtBy: 'management describes the hub to a policy that may not listen only with the right to listen',
    },
  ),
  ...inFile(
    'iot-hub-emulator/src/methods/methods.ts',
    ['iot-hub-emulator/test/methodCalls.test.ts'],
    {
      fault: 'ends all calls when one device leaves',
      find: 'if (call.listener === listener) call.left();',
      replace: 'call.left();',
      caughtBy: 'goes on when another device leaves',
    },
    {
      fault: 'ends no call when its device leaves',
      find: 'if (call.listener === listener) call.left();',
      replace: 'if (call.listener === undefined) call.left();',
      caughtBy: 'leaves, and ends when the device itself leaves',
    },
    {
      fault: 'forgets the receiver when an earlier connection ends',
      find: 'if (listeners.get(clientId) === listener) listeners.delete(clientId);',
      replace: 'listeners.delete(clientId);',
      caughtBy: 'ends when the device listens on a new connection and the earlier one ends, which ends no later call',
    },
  ),
  ...inFile(
    'iot-hub-emulator/src/cloudToDevice/queue.ts',
    ['iot-hub-emulator/test/queue.test.ts'],
    {
      fault: 'lets a receiver settle whose lock has run out unnoticed',
      find: 'if (entry.lock !== lock || lock.until <= now()) return;',
      replace: 'if (entry.lock !== lock) return;',
      caughtBy: 'that has expired cannot be settled, even before the queue has processed that',
    },
    {
      fault: 'lets a receiver settle what another has',
      find: 'if (entry.lock !== lock || lock.until <= now()) return;',
      replace: 'if (lock.until <= now()) return;',
      caughtBy: 'of a receiver that left passes to the next one, and the first can no longer settle the message',
    },
    {
      fault: 'lets a message expire that a receiver has',
      find: '      if (entry.lock) continue;\n',
      replace: '',
      caughtBy: 'protects a message beyond its time to live',
    },
    {
      fault: 'hands out what is locked',
      find: 'if (entry.lock || !entries.includes(entry)) continue;',
      replace: 'if (!entries.includes(entry)) continue;',
      caughtBy: 'hides a message from other receivers',
    },
  ),
  ...inFile(
    'iot-hub-emulator/src/twins/twins.ts',
    ['iot-hub-emulator/test/twins.test.ts'],
    {
      fault: 'keeps the etag of a twin that a service changes',
      find: '      stored.etag = newTag();\n',
      replace: '',
      caughtBy: 'changes by a service change the etag and the version, reports of the device the version only',
    },
    {
      fault: 'changes the etag with what a device reports',
      find: 'stored.version += 1; // as in a hub, reported properties do not change the etag',
      replace: 'stored.version += 1;\n      stored.etag = newTag();',
      caughtBy: 'changes by a service change the etag and the version, reports of the device the version only',
    },
  ),
  ...inFile('iot-hub-emulator/src/twins/twins.ts', ['iot-hub-emulator/test/twins.test.ts'], {
    fault: 'ends all watchers of a twin with one',
    find: 'return () => listeners.delete(listener);',
    replace: 'return () => watchers.delete(clientId) && listeners.delete(listener);',
    caughtBy: 'a watcher that ends leaves the others',
  }),
  ...inFile('iot-hub-emulator/src/cloudToDevice/deviceQueues.ts', ['iot-hub-emulator/test/devicebound.test.ts'], {
    fault: 'delivers to two receivers of the same device',
    find: '      own.stop?.();\n',
    replace: '',
    caughtBy: 'is delivered to the latest receiver, including messages that the previous one had not completed',
  }),
  ...inFile(
    'iot-hub-emulator/src/identity/presence.ts',
    ['iot-hub-emulator/test/presence.test.ts'],
    {
      fault: 'takes a device for gone whose earlier connection ends',
      find: '    if (present.get(clientId) !== connection) return;\n',
      replace: '',
      caughtBy: 'that connects again ends its earlier connection, and the end of that leaves it connected',
    },
    {
      fault: 'ends a device that is only changed',
      find: "if (change !== 'deleted' && status === 'enabled') return;",
      replace: "if (change === 'created') return;",
      caughtBy: 'is disconnected when it is disabled or deleted, with its modules and no other device:',
    },
    {
      fault: 'leaves the modules of a device that is disabled',
      find: 'for (const each of [clientId, ...affected]) end(each, reason);',
      replace: 'for (const each of [clientId, ...affected].slice(0, 1)) end(each, reason);',
      caughtBy: 'is disconnected when it is disabled or deleted, with its modules and no other device:',
    },
  ),
  ...inFile('iot-hub-emulator/src/rest/bulk.ts', ['iot-hub-emulator/test/registryFeatures.test.ts'], {
    fault: 'changes many whatever version was seen',
    find: "if (mode?.endsWith('ifmatchetag') && ",
    replace: "if (mode === '' && ",
    caughtBy: 'updates and deletes many only if their etags match',
  }),
  ...inFile('iot-hub-emulator/src/rest/request.ts', ['iot-hub-emulator/test/registryFeatures.test.ts'], {
    fault: 'changes whatever version was seen',
    find: "wanted !== undefined && wanted !== '*' && wanted !== etag",
    replace: "wanted === ''",
    caughtBy: 'is changed only if the etag matches',
  }),
  ...inFile('iot-hub-emulator/src/identity/registry.ts', ['iot-hub-emulator/test/registryFeatures.test.ts'], {
    fault: 'keeps the etag of an identity that is changed',
    find: 'const changed = { ...identity, ...given, etag: randomTag() };',
    replace: 'const changed = { ...identity, ...given };',
    caughtBy: 'updates and deletes many only if their etags match',
  }),
  ...inFile(
    'iot-hub-emulator/src/clients/trustHub.ts',
    ['iot-hub-emulator/test/trustHub.test.ts'],
    {
      fault: 'believes the hub under every name',
      find: 'options?.ca === undefined && isToThisMachine(options)',
      replace: 'options?.ca === undefined',
      caughtBy: 'a hub is believed only as this machine, and not by a client that names its own authorities',
    },
    {
      fault: 'believes the hub where the client names other authorities',
      find: 'options?.ca === undefined && isToThisMachine(options)',
      replace: 'isToThisMachine(options)',
      caughtBy: 'a hub is believed only as this machine, and not by a client that names its own authorities',
    },
    {
      fault: 'goes on to believe the hub',
      find: '    authorities.delete(one);\n',
      replace: '',
      caughtBy: 'a process believes the authority of a hub from then on, until it ends that',
    },
  ),
  ...inFile('iot-hub-emulator/src/hub.ts', ['iot-hub-emulator/test/hub.test.ts'], {
    fault: 'leaves its temporary directory',
    find: 'closing ??= hub.close().then(remove);',
    replace: 'closing ??= hub.close();',
    caughtBy: 'has a temporary one until the block ends in which it is used, or until it is closed',
  }),
];
