import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const sender = ['test/hub/sender.test.ts'];

/** In the calls to backends, in the cache, in replies, and in the time between attempts. */
export const backendFaults: readonly Fault[] = [
  ...inFile('src/backends/tokenRenewal.ts', ['test/backends/tokenOutage.test.ts'], {
    fault: 'lets calls wait for a token while the last one serves',
    find: 'outage.now() !== undefined && !hasToken()',
    replace: 'outage.now() !== undefined',
    caughtBy: 'A renewal that fails is logged, but no call waits while the token is valid',
  }),
  ...inFile('src/observing/recentRequests.ts', ['test/backends/recentRequests.test.ts'], {
    fault: 'takes old requests for recent ones',
    find: '<= withinMs',
    replace: '<= 2 * withinMs',
    caughtBy: 'Only those of the last five minutes count',
  }),
  ...inFile('src/backends/principalManager.ts', ['test/backends/principalManager.test.ts'], {
    fault: 'takes identities whose paths and names read alike for one',
    find: 'JSON.stringify([connectivityPath, identity])',
    replace: "[connectivityPath, identity].join('/')",
    caughtBy: 'is asked for each pair of path and name separately, even if they are equal when joined',
  }),
  ...inFile('src/backends/answer.ts', ['test/backends/answer.test.ts'], {
    fault: 'reads a large answer without a pause',
    find: 'const answer = readOn(sliceBytes);',
    replace: 'const answer = readOn(1e9);',
    caughtBy: 'yields to other work after each 256 KiB of a',
  }),
  ...inFile('src/backends/answer.ts', ['test/backends/answer.test.ts'], {
    fault: 'cuts texts inside characters',
    find: '(byte & 0xc0) === 0x80',
    replace: 'byte === 0',
    caughtBy: 'in slices that end between characters',
  }),
  ...inFile('src/protocol/jsonPass.ts', ['test/protocol/jsonAnswer.test.ts'], {
    fault: 'forgets in what it was when it paused',
    find: 'isObject.set(pass.isObject);',
    replace: '',
    caughtBy: 'alternates with another answer',
  }),
  ...inFile(
    'src/backends/typeRegistry.ts',
    ['test/backends/typeRegistry.test.ts'],
    {
      fault: 'keeps the latest of a major version for good',
      find: 'isFullVersion(version) ?',
      replace: 'version !== undefined ?',
      caughtBy:
        'is asked once for a full version, and again after a while for the latest or the latest of a major version',
    },
    {
      fault: 'takes types of several model definitions for one',
      find: 'JSON.stringify([model, typeId, version])',
      replace: 'JSON.stringify([typeId, version])',
      caughtBy: 'is asked for each model definition separately',
    },
  ),
  ...inFile(
    'src/backends/sending.ts',
    ['test/backends/retryPolicy.test.ts'],
    {
      fault: 'forgets a lost answer when a status follows it',
      find: 'lost ||= hidesEffect(status)',
      replace: 'lost = hidesEffect(status)',
      caughtBy: 'may have taken effect whatever comes between, as',
    },
    {
      fault: 'forgets a lost answer when a failed connection follows it',
      find: 'lost ||= sent',
      replace: 'lost = sent',
      caughtBy: 'may have taken effect whatever comes between, as',
    },
  ),
  ...inFile('src/backends/cache.ts', ['test/backends/cache.test.ts'], {
    fault: 'holds room for what is not there',
    find: 'if (devices.peek(deviceId) === entries)',
    replace: 'if (value !== undefined && devices.peek(deviceId) === entries)',
    caughtBy: 'frees the room of what is not there',
  }),
  ...inFile('src/backends/token.ts', ['test/backends/token.test.ts'], {
    fault: 'uses a token without a lifetime for an hour',
    find: 'default(300)',
    replace: 'default(3600)',
    caughtBy: 'a token that tells no lifetime',
  }),
  ...inFile(
    'src/backends/retryPolicy.ts',
    ['test/backends/retryPolicy.test.ts'],
    {
      fault: 'repeats all calls at once that failed at once',
      find: 'random() * Math.min',
      replace: 'Math.min',
      caughtBy: 'with the random number 0.5 waits [50,100,200,400,800,1600,3200,5000,5000] ms',
    },
    {
      fault: 'has no chance in its waits by default',
      find: '= Math.random)',
      replace: '= () => 1)',
      caughtBy: 'is random unless a test sets it',
    },
  ),
  ...inFile('src/backends/backends.ts', ['test/backends/circuit.test.ts'], {
    fault: 'goes on listening for the end of a session that has waited for a backend',
    find: "          pointless.removeEventListener('abort', leave);\n",
    replace: '',
    caughtBy: 'waits only for the needed backends',
  }),
  ...inFile(
    'src/hub/replies/sender.ts',
    sender,
    {
      fault: 'sends all replies again at once that failed at once',
      find: 'pauseMs * (0.5 + random() / 2)',
      replace: 'pauseMs',
      caughtBy: 'waits half of each pause and a random part of the rest',
    },
    {
      fault: 'takes all devices for not fetching when one is',
      find: 'notFetching.has(reply.deviceId)',
      replace: 'notFetching.size > 0',
      caughtBy: 'remembers as not fetching only those whose queue was full',
    },
  ),
  ...inFile('src/hub/replies/replies.ts', ['test/hub/replySettings.test.ts'], {
    fault: 'leaves nothing to chance between the attempts of a reply',
    find: 'random: Math.random',
    replace: 'random: () => 1',
    caughtBy: 'with the random number 0 a reply is sent again after 50 ms',
  }),
  ...inFile('src/hub/replies/message.ts', ['test/hub/serviceConnection.test.ts'], {
    fault: 'sends no content encoding',
    find: '  message.contentEncoding = contentEncoding;\n',
    replace: '  void contentEncoding;\n',
    caughtBy: 'sends the system properties and the application properties of a reply, and no others (C1, C2)',
  }),
];
