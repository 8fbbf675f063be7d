import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

/** In the admin port and the tap. */
export const adminFaults: readonly Fault[] = [
  ...inFile(
    'src/operations/adminAccess.ts',
    ['test/operations/admin.test.ts'],
    {
      fault: 'answers by whatever host name',
      find: ' ? undefined : noWebPage;',
      replace: ' ? undefined : undefined;',
      caughtBy: 'a host name that leads here (DNS rebinding)',
    },
    {
      fault: 'answers web pages',
      find: '    if (isOfPage) return noWebPage;\n',
      replace: '',
      caughtBy: 'refuses a web page',
    },
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
    {
      fault: 'takes any token',
      find: ' ? undefined : noToken;',
      replace: ' ? undefined : undefined;',
      caughtBy: 'with a token answers only who has it',
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
    fault: 'keeps everything for a slow reader',
    find: 'if (dropped > 0 || response.writableLength > mostBuffered) dropped += 1;',
    replace: 'if (dropped > 0) dropped += 1;',
    caughtBy: 'A slow reader holds nothing up',
  }),
  ...inFile(
    'src/operations/tapRoute.ts',
    ['test/operations/tapRoute.test.ts'],
    {
      fault: 'takes a gap of the partition for news of the device',
      find: "if (event.stage !== 'gap') events += 1;",
      replace: 'events += 1;',
      caughtBy: 'nothing of its device, at most gaps, says what that can mean',
    },
    {
      fault: 'does not say at the end what was dropped',
      find: 'response.end(dropped > 0 ? droppedLine(dropped) + line : line);',
      replace: 'response.end(line);',
      caughtBy: 'is told then how much was dropped',
    },
  ),
  ...inFile('src/operations/tapRoute.ts', ['test/operations/tapRoute.test.ts'], {
    fault: 'shows bodies to all who follow a device',
    find: "bodies === 'true' ? own : undefined",
    replace: 'bodies ? own : undefined',
    caughtBy: 'Only a tap that asks for bodies has them',
  }),
  ...inFile('src/observing/messages.ts', ['test/dispatch/dispatch.test.ts'], {
    fault: 'does not say that a message is left',
    find: "          tell?.('left', { why: 'this instance no longer reads the partition' });\n",
    replace: '',
    caughtBy: 'that a message is left when its partition is taken from us',
  }),
  ...inFile('src/dispatch/dispatch.ts', ['test/dispatch/dispatch.test.ts'], {
    fault: 'takes a message that is left for handled to its end',
    find: 'if (!isHandled) course.left();',
    replace: '',
    caughtBy: 'that a message is left when its partition is taken from us during a call',
  }),
  ...inFile(
    'telemetry/src/listening.ts',
    ['test/telemetry/slowClients.test.ts'],
    {
      fault: 'waits for clients that do not read',
      find: 'setTimeout(() => response.destroy(), answerMs)',
      replace: 'setTimeout(() => {}, answerMs)',
      caughtBy: 'does not read its answer',
    },
    {
      fault: 'waits a minute for headers',
      find: 'createServer({ ...timeouts, connectionsCheckingInterval }, ',
      replace: 'createServer({ keepAliveTimeout: timeouts.keepAliveTimeout, connectionsCheckingInterval }, ',
      caughtBy: 'sends its headers byte by byte',
    },
  ),
  ...inFile('src/operations/admin.ts', ['test/telemetry/slowClients.test.ts'], {
    fault: 'accepts any number of connections',
    find: '  server.maxConnections = mostConnections;\n',
    replace: '  void mostConnections;\n',
    caughtBy: 'has 32 places and no more',
  }),
  ...inFile('src/operations/admin.ts', ['test/telemetry/slowClients.test.ts'], {
    fault: 'ends the tap after the time of an answer',
    find: '      takeTime();\n',
    replace: '',
    caughtBy: 'goes on with an answer that takes its time',
  }),
  ...inFile('src/tap/redactedJson.ts', ['test/tap/redactedJson.test.ts'], {
    fault: 'hides only the first word of a secret',
    find: '      hiddenAt = depth;\n',
    replace: '',
    caughtBy: 'hides what has the name of a secret',
  }),
  ...inFile('src/tap/lines.ts', ['test/tap/taps.test.ts'], {
    fault: 'shows known secrets in texts',
    find: 'clean(text.slice(0, 2 * longestText)).slice',
    replace: 'text.slice(0, 2 * longestText).slice',
    caughtBy: 'has no secret',
  }),
  ...inFile('src/tap/lines.ts', ['test/tap/taps.test.ts'], {
    fault: 'shows the token of the call in base64',
    find: '    coverSecrets(text, ofCall.pieces, covered);\n',
    replace: '',
    caughtBy: 'has no token and no known secret behind',
  }),
  ...inFile('src/tap/taps.ts', ['test/tap/taps.test.ts'], {
    fault: 'tells about all devices',
    find: 'one.device === device',
    replace: "one.device !== ''",
    caughtBy: 'and about no other device’s',
  }),
  ...inFile('src/observing/calls.ts', ['test/backends/steps.test.ts'], {
    fault: 'keeps to itself which token a backend may repeat',
    find: 'response: end.data }, end.token)',
    replace: 'response: end.data })',
    caughtBy: 'tells with an answer which token the call had',
  }),
  ...inFile('src/observing/calls.ts', ['test/backends/steps.test.ts'], {
    fault: 'never forgets a call',
    find: '          course.open.delete(step);\n',
    replace: '',
    caughtBy: 'says which operation of which backend it is',
  }),
  ...inFile('src/engine/order/lanes.ts', ['test/engine/deviceWork.test.ts'], {
    fault: 'does not say who waits for room',
    find: "      if (taking) found.set(taking, 'room');\n",
    replace: '',
    caughtBy: 'is that it waits for room in the budget',
  }),
  ...inFile('src/tap/lines.ts', ['test/methods/admin.test.ts'], {
    fault: 'shows the signatures of files in bodies',
    find: 'redactedJson(body, clean)',
    replace: 'redactedJson(body, (text) => text)',
    caughtBy: 'with bodies but without signatures',
  }),
  ...inFile('src/observing/invocations.ts', ['test/methods/admin.test.ts'], {
    fault: 'never forgets a step of an invocation',
    find: '          open.delete(step);\n',
    replace: '          void step;\n',
    caughtBy: 'says who waits for the device',
  }),
  ...inFile('src/hub/reading/consumer.ts', ['test/hub/partitionState.test.ts'], {
    fault: 'names the earlier owner of what it reads itself',
    find: 'records.filter(({ partition }) => sessions.stateOf(partition) === undefined)',
    replace: 'records',
    caughtBy: 'says who owns it while another instance does',
  }),
  ...inFile('src/hub/replies/sender.ts', ['test/hub/sender.test.ts'], {
    fault: 'does not say that a reply waits for its turn',
    find: "        observer?.waits('turn');\n        if (!(await turn)) return 'stopped';",
    replace: "        if (!(await turn)) return 'stopped';",
    caughtBy: 'tells that a reply waits for its turn',
  }),
  ...inFile('src/operations/adminClient.ts', ['test/operations/adminClient.test.ts'], {
    fault: 'follows an answer to another address',
    find: "redirect: 'error'",
    replace: "redirect: 'follow'",
    caughtBy: 'follows no answer to another address',
  }),
  ...inFile(
    'src/operations/choice.ts',
    ['test/operations/replay.test.ts'],
    {
      fault: 'leaves out what was parked at the very time',
      find: 'letter.parkedAt >= since',
      replace: 'letter.parkedAt > since',
      caughtBy: 'by {"since":"2026-02-01',
    },
    {
      fault: 'passes over dead letters of a store that cannot be reached',
      find: '    else if (found instanceof Error) throw found;\n',
      replace: '    else if (found instanceof Error) continue;\n',
      caughtBy: 'ends when the store cannot be reached',
    },
  ),
  ...inFile('src/operations/adminClient.ts', ['test/operations/adminClient.test.ts'], {
    fault: 'sends the token to another host',
    find: 'target.origin !== base.origin',
    replace: "target.origin === ''",
    caughtBy: 'sends the token to no other host',
  }),
];
