import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const outages = ['test/backends/outages.test.ts'];

/** In what tells outages from failures, and says so. */
export const outageFaults: readonly Fault[] = [
  ...inFile('src/backends/circuit.ts', outages, {
    fault: 'takes the 500s of a few devices for an outage without asking the backend',
    find: "healthProbe.begin('HTTP 500')",
    replace: "open('HTTP 500')",
    caughtBy: 'of several devices delays no other when a probe succeeds: their messages fail by themselves',
  }),
  ...inFile('src/backends/retryPolicy.ts', outages, {
    fault: 'asks a healthy backend again at once, whatever it asks for',
    find: 'isTooLong ? Math.min(asked, policy.maxRetryAfterMs) : asked',
    replace: 'isTooLong ? 0 : asked',
    caughtBy: 'the next attempt comes after 15 s',
  }),
  ...inFile('src/backends/healthProbe.ts', ['test/backends/circuit.test.ts'], {
    fault: 'probes no sooner than a backend asks, however late that is',
    find: 'Math.min(retryAfterMs, maxProbeMs)',
    replace: 'retryAfterMs',
    caughtBy: 'is probed no sooner than the backend’s Retry-After, up to the longest interval',
  }),
  ...inFile('src/backends/attemptOutcome.ts', ['test/backends/circuit.test.ts'], {
    fault: 'takes a slow backend for one that is down',
    find: '!circuit.hasSucceededWithin(timeoutMs)',
    replace: 'timeoutMs > 0',
    caughtBy: 'is closed after a time-out while others are answered',
  }),
  ...inFile(
    'src/backends/http.ts',
    ['test/backends/circuit.test.ts'],
    {
      fault: 'does not see that a probe’s token is taken',
      find: '        access(response.status);\n',
      replace: '',
      caughtBy:
        'is counted when it opens, with its probes, of which the first answer shows that the service’s token is accepted',
    },
    {
      fault: 'does not record probes',
      find: '        calls.probed(response, sentAt);\n',
      replace: '',
      caughtBy: 'is counted when it opens, with its probes',
    },
  ),
  ...inFile('src/backends/circuit.ts', ['test/backends/circuit.test.ts'], {
    fault: 'does not count outages',
    find: '    onOpen?.();\n',
    replace: '    void onOpen;\n',
    caughtBy: 'is counted when it opens, with its probes',
  }),
  ...inFile('src/backends/refusal.ts', ['test/backends/http.test.ts'], {
    fault: 'tells the last of several errors',
    find: 'first ??= error;',
    replace: 'first = error;',
    caughtBy: 'of a refusal with several errors has the first of them',
  }),
  ...inFile('src/backends/retryPolicy.ts', ['test/backends/retryPolicy.test.ts'], {
    fault: 'takes 425 for an answer',
    find: 'passing = new Set([401, 408, 425,',
    replace: 'passing = new Set([401, 408,',
    caughtBy: 'such as [425] is retried',
  }),
  ...inFile('src/backends/retryPolicy.ts', ['test/backends/retryPolicy.test.ts'], {
    fault: 'tries again what is forbidden',
    find: 'passing = new Set([401, ',
    replace: 'passing = new Set([401, 403, ',
    caughtBy: 'is an answer: the call is sent once',
  }),
  ...inFile('src/backends/attempt.ts', ['test/backends/retryPolicy.test.ts'], {
    fault: 'renews the token after what is forbidden',
    find: 'if (response.status !== 401) return response;',
    replace: 'if (response.status !== 401 && response.status !== 403) return response;',
    caughtBy: 'is an answer: the call is sent once, no token is renewed',
  }),
  ...inFile(
    'src/backends/backends.ts',
    ['test/backends/caches.test.ts'],
    {
      fault: 'caches for a fixed time',
      find: 'settings.cacheSeconds * 1000',
      replace: '30_000',
      caughtBy: 'keeps its answers for BACKENDS_CACHE_SECONDS',
    },
    {
      fault: 'counts the look-ups of types as those of identities',
      find: "countLookUp('types', result)",
      replace: "countLookUp('identities', result)",
      caughtBy: 'is counted by its own name',
    },
    {
      fault: 'counts the entries of one cache for the other',
      find: 'cacheEntries: types.entries()',
      replace: 'cacheEntries: identities.entries()',
      caughtBy: 'is counted by its own name',
    },
  ),
  ...inFile('src/backends/methodBackends.ts', ['test/backends/caches.test.ts'], {
    fault: 'caches types of the front door for a fixed time',
    find: 'settings.cacheSeconds * 1000',
    replace: '30_000',
    caughtBy: 'the cache of the front door keeps types',
  }),
  ...inFile('src/operations/backendGauges.ts', ['test/backends/caches.test.ts'], {
    fault: 'names the caches wrongly',
    find: "typeRegistry: 'types', principalManager: 'identities'",
    replace: "typeRegistry: 'identities', principalManager: 'types'",
    caughtBy: 'is counted by its own name',
  }),
  ...inFile('src/settings/formats.ts', ['test/settings/config.test.ts'], {
    fault: 'takes an address with a password and no user',
    find: "url?.username === '' && url.password === ''",
    replace: "url?.username === ''",
    caughtBy: 'INFORMATION_MODEL_URL=https://:pass@im.example is refused',
  }),
  ...inFile('telemetry/src/scrub.ts', ['test/log/log.test.ts'], {
    fault: 'logs the password of an address without a user',
    find: '[^\\s/@"\'<>]*@/g',
    replace: '[^\\s/@"\'<>:]+(?::[^\\s/@"\'<>]*)?@/g',
    caughtBy: 'an address with a password and no user',
  }),
  ...inFile('src/settings/redacted.ts', ['test/settings/redacted.test.ts'], {
    fault: 'shows the password of an address without a user',
    find: "host === '' ? hidden : ",
    replace: "host === '' ? hidden : new URL(url).username === '' ? url : ",
    caughtBy:
      'redacted settings hide each secret setting, and the secret parts of a URL in any form, for both programs',
  }),
  ...inFile('src/log/troubles.ts', ['test/log/troubles.test.ts'], {
    fault: 'says what to do when there is nothing left to do',
    find: '...(fields ?? latest.fields)',
    replace: '...(fields ?? told(latest))',
    caughtBy: 'a trouble has its cause and remedy in each line except the last',
  }),
  ...inFile('src/log/troubles.ts', ['test/log/troubles.test.ts'], {
    fault: 'writes every time',
    find: 'known.times += 1;',
    replace: 'known.times += 1;\n      write(trouble, {});',
    caughtBy: 'one line at the start, one each minute',
  }),
  ...inFile(
    'src/text/secretPieces.ts',
    ['test/backends/redaction.test.ts'],
    {
      fault: 'passes a secret on in another case of letters',
      find: 'text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())',
      replace: 'text',
      caughtBy: 'in another case of letters',
    },
    {
      fault: 'passes a secret on in base64 when something stands before it',
      find: '[0, 1, 2].flatMap',
      replace: '[0].flatMap',
      caughtBy: 'in base64 behind 1 other characters',
    },
    {
      fault: 'passes a secret on that is cut',
      find: 'at + identifyingLength <= form.length; at += 1',
      replace: 'at + identifyingLength <= form.length && at < 1; at += 40',
      caughtBy: 'cut at its beginning',
    },
  ),
  ...inFile(
    'src/text/coverSecret.ts',
    ['test/backends/redaction.test.ts'],
    {
      fault: 'passes a token on in base64 when something stands before it',
      find: 'before < 4',
      replace: 'before < 1',
      caughtBy: 'in any encoding and cut anywhere',
    },
    {
      fault: 'passes a token on that is percent-encoded',
      find: "words.includes('%') ?",
      replace: "words.includes('%%%') ?",
      caughtBy: 'one that would change in an address',
    },
    {
      fault: 'passes a token on in another case of letters',
      find: 'letter.toLowerCase()',
      replace: 'letter',
      caughtBy: 'in another case of letters',
    },
    {
      fault: 'takes out what is twice in a text only once',
      find: 'same: twin.same,',
      replace: 'same: undefined,',
      caughtBy: 'at every occurrence',
    },
    {
      fault: 'passes a part on that shares its number with another one',
      find: 'undefined, next, isFound',
      replace: 'undefined, next: 0, isFound',
      caughtBy: 'although a few parts share a hash by chance',
    },
  ),
  ...inFile('src/backends/redaction.ts', ['test/backends/redaction.test.ts'], {
    fault: 'prepares what it looks up for each token',
    find: 'coverSecret(words, token, covered);',
    replace: 'coverSecrets(words, piecesOf([token]), covered);',
    caughtBy: 'at a low cost for long tokens that are used once',
  }),
  ...inFile('telemetry/src/log.ts', ['test/telemetry/printable.test.ts'], {
    fault: 'writes characters that steer a terminal to the log',
    find: ': printableJson;',
    replace: ': (json: string) => json;',
    caughtBy: 'reaches the log unchanged, and none is lost',
  }),
];
