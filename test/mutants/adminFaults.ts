import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

/** In the admin port and the tap. */
export const adminFaults: readonly Fault[] = [
  ...inFile(
    'src/operations/adminAccess.ts',
    ['test/operations/admin.test.ts'],
    {
      fault: 'answers pages of the same site',
      find: '/^(cross|same)-site$/',
      replace: '/^cross-site$/',
      caughtBy: 'refuses an image in a page of the same site',
    },
    {
      fault: 'answers images in web pages',
      find: '/^(cross|same)-site$/',
      replace: '/^same-site$/',
      caughtBy: 'refuses an image in a web page',
    },
  ),
  ...inFile(
    'sandbox/page/pageAccess.ts',
    ['test/sandbox/pageServer.test.ts'],
    {
      fault: 'answers pages of every origin',
      find: 'if (origin !== undefined && origin !==',
      replace: 'if (origin !== undefined && origin ===',
      caughtBy: 'gives a foreign page nothing',
    },
    {
      fault: 'answers under every host name',
      find: '  if (!here.test(host)) return false;\n',
      replace: '',
      caughtBy: 'gives a host name that leads here (DNS rebinding) nothing',
    },
  ),
  ...inFile('src/settings/agreements.ts', ['test/settings/config.test.ts'], {
    fault: 'opens the admin port to other machines without a token',
    find: "token === '' && !isLoopback(host)",
    replace: "token === '' && host === ''",
    caughtBy: 'ADMIN_HOST=0.0.0.0 is refused',
  }),
  ...inFile('src/operations/openAdmin.ts', ['test/operations/admin.test.ts'], {
    fault: 'shows the settings with their secrets',
    find: 'get: () => redactedSettings(settings)',
    replace: 'get: () => settings',
    caughtBy: 'shows the settings without their secrets',
  }),
  ...inFile('src/operations/tapRoute.ts', ['test/operations/tapRoute.test.ts'], {
    fault: 'shows bodies to all followers of a device',
    find: "bodies === 'true' ? own : undefined",
    replace: 'bodies ? own : undefined',
    caughtBy: 'Only a tap that asks for bodies has them',
  }),
  ...inFile('src/observing/messageRecords.ts', ['test/dispatch/dispatch.test.ts'], {
    fault: 'does not say that a message is left',
    find: "          publish?.('left', { why: 'this instance no longer reads the partition' });\n",
    replace: '',
    caughtBy: 'shows that a message is abandoned when its partition is lost',
  }),
  ...inFile('telemetry/src/listening.ts', ['test/telemetry/slowClients.test.ts'], {
    fault: 'waits a minute for headers',
    find: 'createServer({ ...timeouts, connectionsCheckingInterval }, ',
    replace: 'createServer({ keepAliveTimeout: timeouts.keepAliveTimeout, connectionsCheckingInterval }, ',
    caughtBy: 'sends its headers byte by byte',
  }),
  ...inFile('src/operations/adminServer.ts', ['test/telemetry/slowClients.test.ts'], {
    fault: 'accepts any number of connections',
    find: '  server.maxConnections = mostConnections;\n',
    replace: '  void mostConnections;\n',
    caughtBy: 'has 32 connections at most',
  }),
  ...inFile('src/operations/adminServer.ts', ['test/telemetry/slowClients.test.ts'], {
    fault: 'ends the tap after the time of an answer',
    find: '      takeTime();\n',
    replace: '',
    caughtBy: 'continues a slow answer beyond all limits',
  }),
  ...inFile('src/tap/redactedJson.ts', ['test/tap/redactedJson.test.ts'], {
    fault: 'hides only the first word of a secret',
    find: '      hiddenAt = depth;\n',
    replace: '',
    caughtBy: 'hides members with the name of a secret',
  }),
  ...inFile('src/tap/tapLines.ts', ['test/tap/taps.test.ts'], {
    fault: 'shows known secrets in texts',
    find: 'clean(text.slice(0, 2 * longestText)).slice',
    replace: 'text.slice(0, 2 * longestText).slice',
    caughtBy: 'has no secret',
  }),
  ...inFile('src/tap/tapLines.ts', ['test/tap/taps.test.ts'], {
    fault: 'shows the token of the call in base64',
    find: '    coverSecrets(text, ofCall.pieces, covered);\n',
    replace: '',
    caughtBy: 'has no token and no known secret after',
  }),
  ...inFile('src/tap/taps.ts', ['test/tap/taps.test.ts'], {
    fault: 'tells about all devices',
    find: 'one.device === device',
    replace: "one.device !== ''",
    caughtBy: 'get the events of its messages, and of no other device',
  }),
  ...inFile('src/observing/callRecords.ts', ['test/backends/steps.test.ts'], {
    fault: 'keeps to itself which token a backend may repeat',
    find: 'response: end.data }, end.token)',
    replace: 'response: end.data })',
    caughtBy: 'reports with an answer the token of the call, since the backend may repeat it',
  }),
  ...inFile('src/observing/callRecords.ts', ['test/backends/steps.test.ts'], {
    fault: 'never forgets a call',
    find: '          course.open.delete(step);\n',
    replace: '',
    caughtBy: 'shows its operation and backend, and that it waits for the answer',
  }),
  ...inFile('src/tap/tapLines.ts', ['test/methods/admin.test.ts'], {
    fault: 'shows the signatures of files in bodies',
    find: 'redactedJson(body, clean)',
    replace: 'redactedJson(body, (text) => text)',
    caughtBy: 'with bodies but without signatures',
  }),
  ...inFile('src/hub/reading/consumer.ts', ['test/hub/partitionState.test.ts'], {
    fault: 'names the earlier owner of what it reads itself',
    find: 'records.filter(({ partition }) => sessions.stateOf(partition) === undefined)',
    replace: 'records',
    caughtBy: 'names another instance that owns it',
  }),
  ...inFile('src/hub/replies/sender.ts', ['test/hub/sender.test.ts'], {
    fault: 'does not say that a reply waits for its turn',
    find: "        observer?.waits('turn');\n        if (!(await turn)) return 'stopped';",
    replace: "        if (!(await turn)) return 'stopped';",
    caughtBy: 'reports that a reply waits for its turn behind another one',
  }),
  ...inFile('src/operations/adminClient.ts', ['test/operations/adminClient.test.ts'], {
    fault: 'follows an answer to another address',
    find: "redirect: 'error'",
    replace: "redirect: 'follow'",
    caughtBy: 'A command follows no redirect',
  }),
  ...inFile('src/observing/messageRecords.ts', ['test/dispatch/dispatch.test.ts'], {
    fault: 'does not say that a message is being parked',
    find: "          const step = beginStep(course, 'parking', code, 'store of dead letters');\n",
    replace: "          const step = beginStep({ open: new Set() }, 'parking', code, 'store of dead letters');\n",
    caughtBy: 'has a step during its parking, and none afterwards',
  }),
  ...inFile('src/hub/stores/buildRecord.ts', ['test/hub/buildRecord.test.ts'], {
    fault: 'forgets the build before a deploy at the next start',
    find: 'return earlier;',
    replace: 'return last;',
    caughtBy: 'also at later starts of the same build',
  }),
  ...inFile('src/hub/stores/buildRecord.ts', ['test/hub/buildRecord.test.ts'], {
    fault: 'stops at a record of builds that it cannot understand',
    find: '    return [];\n',
    replace: "    throw new Error('damaged');\n",
    caughtBy: 'is replaced when it is',
  }),
];
