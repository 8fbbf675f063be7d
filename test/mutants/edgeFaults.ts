import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const test = (name: string) => [`test/edge/${name}.test.ts`];

/** In the edge proxy. */
export const edgeFaults: readonly Fault[] = [
  ...inFile(
    'edge/src/matching.ts',
    test('matching'),
    {
      fault: 'matches targets by half a segment',
      find: "end = end > 0 ? Math.max(0, target.lastIndexOf('/', end - 1)) : -1",
      replace: 'end -= 1',
      caughtBy: 'goes to nobody by half a segment',
    },
    {
      fault: 'asks the gateway of the target before that of the object',
      find: '    if (owner) return owner;\n',
      replace: '    if (owner && !byTarget.has(target)) return owner;\n',
      caughtBy: 'goes to the gateway of its object rather than that of its target',
    },
  ),
  ...inFile('edge/src/configuration/agreements.ts', test('configuration'), {
    fault: 'lets topics lie below each other',
    find: 'segments.slice(0, index + 1)',
    replace: 'segments',
    caughtBy: 'with a topic below that of another module names the place',
  }),
  ...inFile('edge/src/proxy.ts', test('modules'), {
    fault: 'takes retained messages as replies',
    find: "if (isRetained) dropped.count(moduleId, 'retained');\n      else if",
    replace: 'if',
    caughtBy: 'that was retained at the broker is dropped when the proxy comes back',
  }),
  ...inFile('edge/src/proxy.ts', test('modules'), {
    fault: 'answers when the hub has given up',
    find: 'const marginSeconds = 1;',
    replace: 'const marginSeconds = 0;',
    caughtBy: 'that comes too late is dropped, and is not mistaken for the next one’s',
  }),
  ...inFile('edge/src/waiting.ts', test('modules'), {
    fault: 'takes the reply of any module',
    find: 'const key = keyOf(moduleId, requestId);',
    replace: 'const key = [...requests.keys()].find((one) => one.endsWith(requestId)) ?? keyOf(moduleId, requestId);',
    caughtBy: 'to the request of another module answers nothing',
  }),
  ...inFile(
    'edge/src/reply.ts',
    test('modules'),
    {
      fault: 'sends the hub an answer of any size',
      find: 'Buffer.byteLength(JSON.stringify(said)) > maxAnswerBytes',
      replace: 'false',
      caughtBy: 'may have as many bytes as the hub carries, and not one more',
    },
    {
      fault: 'takes a list as an output',
      find: ' && !Array.isArray(value)',
      replace: '',
      caughtBy: 'with an array is a bad reply',
    },
  ),
  ...inFile('edge/src/invocation.ts', test('modules'), {
    fault: 'lets a method be a wildcard',
    find: '/^\\$|[/+#]/',
    replace: '/^\\$|[/]/',
    caughtBy: 'never gets the method "+", which would be another topic',
  }),
  ...inFile('edge/src/connections/broker.ts', test('connections'), {
    fault: 'hands invocations to a module that it cannot hear',
    find: 'client.connected && heard.has(moduleId)',
    replace: 'client.connected || heard.has(moduleId)',
    caughtBy: 'refuses our subscription to one module: that one gets 503, the others work',
  }),
  ...inFile('edge/src/connections/packetSizes.ts', test('packetSizes'), {
    fault: 'lets a module send any amount at once',
    find: 'if (length > mostBytes) {',
    replace: 'if (length > 2 ** 28) {',
    caughtBy: 'a packet is noticed before it has come',
  }),
  ...inFile('edge/src/connections/hub.ts', test('connections'), {
    fault: 'makes the connection anew while invocations are in work',
    find: '(seconds > token.renewWhenIdle && isIdle())',
    replace: 'seconds > token.renewWhenIdle',
    caughtBy: 'gets a new connection before its token is out of date, in a moment without work',
  }),
  ...inFile(
    'edge/src/files/fetchFile.ts',
    test('files'),
    {
      fault: 'takes a file that was changed',
      find: "  if (bare(headers.etag ?? '') !== bare(etag)) throw new FetchFailed('it was changed meanwhile');\n",
      replace: '',
      caughtBy: 'when its host ignores the condition',
    },
    {
      fault: 'takes a file that is shorter',
      find: "  if (count < bytes) throw new FetchFailed('it is shorter than it was');\n",
      replace: '',
      caughtBy: 'when its host sends less',
    },
  ),
  ...inFile('edge/src/files/address.ts', test('files'), {
    fault: 'fetches from any host',
    find: 'hosts.includes(host)',
    replace: 'hosts.length > 0',
    caughtBy: 'from a host that is not configured',
  }),
  ...inFile(
    'edge/src/files/folder.ts',
    test('files'),
    {
      fault: 'forgets what a module has left lying',
      find: 'used.bytes + reserved.bytes + bytes > quotaBytes',
      replace: 'reserved.bytes + bytes > quotaBytes',
      caughtBy: 'has a quota, to which all counts that the module has left lying',
    },
    {
      fault: 'leaves what failed',
      find: '        await Promise.all(all.map((path) => rm(path, { force: true }).catch(() => {})));\n',
      replace: '        await Promise.all(all);\n',
      caughtBy: 'when its host breaks off',
    },
  ),
  ...inFile('edge/src/room.ts', test('load'), {
    fault: 'lets one module have all the room',
    find: ' || before >= inFlightPerModule',
    replace: '',
    caughtBy: 'a module has a share: over it there is 503 at once',
  }),
];
