import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const outages = ['test/backends/outages.test.ts'];

/** In what tells outages from failures, and says so. */
export const outageFaults: readonly Fault[] = [
  ...inFile('src/backends/circuit.ts', outages, {
    fault: 'takes the 500s of a few devices for an outage without asking the backend',
    find: "healthProbe.begin('HTTP 500')",
    replace: "open('HTTP 500')",
    caughtBy: 'stops nobody when a probe finds the backend healthy',
  }),
  ...inFile('src/backends/circuit.ts', ['test/backends/circuit.test.ts'], {
    fault: 'believes a failed probe although somebody has been served since',
    find: 'else if (lastSuccess < began) open',
    replace: 'else open',
    caughtBy: 'when somebody has been served since',
  }),
  ...inFile('src/backends/failureCount.ts', ['test/backends/circuit.test.ts'], {
    fault: 'takes the failures of one device for an outage',
    find: 'return acrossDevices && count',
    replace: 'return count',
    caughtBy: 'stays closed whatever one device alone meets',
  }),
  ...inFile('src/backends/healthProbe.ts', ['test/backends/circuit.test.ts'], {
    fault: 'asks as often as devices provoke it',
    find: 'if (early > 0) {',
    replace: 'if (early > 1e9) {',
    caughtBy: 'asks once a second at most',
  }),
  ...inFile(
    'src/backends/retries.ts',
    outages,
    {
      fault: 'waits alone when it is asked to wait beyond its time',
      find: 'if (isTooLong) circuit.doubt(failure);',
      replace: '',
      caughtBy: 'at the word of one device',
    },
    {
      fault: 'gives a message all its attempts although the backend has proved healthy',
      find: 'if (circuit.healthyProbes() > healthyProbesBefore) return true;',
      replace: '',
      caughtBy: 'draws again after a successful probe fails this message',
    },
    {
      fault: 'gives up while the backend is being asked',
      find: '&& !isSuspect',
      replace: '',
      caughtBy: 'at the last attempt of a message',
    },
  ),
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
      find: 'at + telling <= form.length; at += 1',
      replace: 'at + telling <= form.length && at < 1; at += 40',
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
      caughtBy: 'however it was encoded and cut',
    },
    {
      fault: 'passes a token on that is percent-encoded',
      find: "words.includes('%') ?",
      replace: "words.includes('%%%') ?",
      caughtBy: 'one that would change in an address',
    },
    {
      fault: 'passes a token on in another case of letters',
      find: 'letters.toLowerCase()',
      replace: 'letters',
      caughtBy: 'in another case of letters',
    },
  ),
  ...inFile(
    'src/backends/redaction.ts',
    ['test/backends/redaction.test.ts'],
    {
      fault: 'reads the token of a request whose answer says nothing',
      find: "if (given === '') return '';",
      replace: '',
      caughtBy: 'and it is not looked at for an empty text',
    },
    {
      fault: 'prepares what it looks up for each token',
      find: 'coverSecret(words, token, covered);',
      replace: 'coverSecrets(words, piecesOf([token]), covered);',
      caughtBy: 'at little cost for long ones that come once',
    },
  ),
  ...inFile(
    'src/backends/bodyValues.ts',
    ['test/backends/redaction.test.ts'],
    {
      fault: 'quotes short values of the request',
      find: 'for (const at of quotations.get(value) ?? []) covered.fill(1, at, at + value.length);',
      replace: '',
      caughtBy: 'a short one in quotation marks',
    },
    {
      fault: 'quotes values of the request that the backend has cut',
      find: 'value.slice(0, recognisable)',
      replace: 'value',
      caughtBy: 'one that was cut',
    },
    {
      fault: 'takes keys of the request for values',
      find: ' && !isKey(body, end + 1)',
      replace: '',
      caughtBy: 'a key is no value',
    },
  ),
  ...inFile('src/log/log.ts', ['test/text/printable.test.ts'], {
    fault: 'writes characters that steer a terminal to the log',
    find: ': printableJson;',
    replace: ': (json: string) => json;',
    caughtBy: 'reaches the log as such',
  }),
];
