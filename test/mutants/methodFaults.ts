import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const test = (name: string) => [`test/methods/${name}.test.ts`];

/** In the front door of remote methods. */
export const methodFaults: readonly Fault[] = [
  ...inFile('src/methods/invoking.ts', test('invoke'), {
    fault: 'hands the caller’s claims to the device',
    find: '      target,\n      method,\n',
    replace: '      target,\n      claims,\n      method,\n',
    caughtBy: 'is invoked by a POST on its path, and its status and output are the answer',
  }),
  ...inFile('src/methods/invoking.ts', test('input'), {
    fault: 'sends a payload of any size',
    find: 'bytes > maxPayloadBytes',
    replace: 'bytes > maxPayloadBytes + 1',
    caughtBy: 'may have 131,072 bytes, and not one more',
  }),
  ...inFile('src/methods/invoking.ts', test('invoke'), {
    fault: 'leaves out an empty input',
    find: '...(inputs !== undefined && { input }),',
    replace: '...(body.input !== undefined && { input }),',
    caughtBy: 'gets an empty input when none is given',
  }),
  ...inFile(
    'src/backends/callersModel.ts',
    test('invoke'),
    {
      fault: 'asks the information model without saying what for',
      find: "        'x-svc-operation': 'invoke',\n",
      replace: '',
      caughtBy: 'goes to the information model alone, without a device',
    },
    {
      fault: 'speaks for a device with the caller’s token',
      find: "        'x-svc-operation': 'invoke',\n",
      replace: "        'x-svc-operation': 'invoke',\n        'x-svc-device-id': 'motor-1',\n",
      caughtBy: 'goes to the information model alone, without a device',
    },
  ),
  ...inFile(
    'src/backends/callersModel.ts',
    test('backends'),
    {
      fault: 'lets answers to callers open the circuit',
      find: 'const why = isPassing(status)',
      replace: "circuit.failed(objectId + performance.now(), 'x');\n    const why = isPassing(status)",
      caughtBy: 'cannot be made to seem out by answers to callers',
    },
    {
      fault: 'believes an information model that answers another object',
      find: 'found?.objectId.toLowerCase() !== objectId.toLowerCase() || ',
      replace: 'found === undefined || ',
      caughtBy: 'of another object is believed nothing',
    },
  ),
  ...inFile(
    'src/methods/server.ts',
    test('input'),
    {
      fault: 'converts what it is given',
      find: 'coerceTypes: false',
      replace: 'coerceTypes: true',
      caughtBy: 'which is neither rounded nor converted',
    },
    {
      fault: 'drops what it does not know',
      find: 'removeAdditional: false',
      replace: 'removeAdditional: true',
      caughtBy: 'with another member is refused',
    },
  ),
  ...inFile('src/methods/server.ts', test('load'), {
    fault: 'keeps connections open while it stops',
    find: "if (door.isStopping()) reply.header('connection', 'close');",
    replace: '',
    caughtBy: 'that stops finishes what is in work',
  }),
  ...inFile(
    'src/methods/inputs.ts',
    test('input'),
    {
      fault: 'takes integers that a double rounds',
      find: 'integer: (value) => (Number.isSafeInteger(value)',
      replace: 'integer: (value) => (Number.isInteger(value)',
      caughtBy: 'beyond 2^53 is refused by name',
    },
    {
      fault: 'looks data types up among what every object has',
      find: 'if (dataType === undefined) return',
      replace: 'if (dataType === undefined && declared !== undefined) return',
      caughtBy: 'for a method that declares none is refused',
    },
  ),
  ...inFile(
    'src/methods/room.ts',
    test('load'),
    {
      fault: 'gives one device all the room',
      find: 'ofDevice >= inFlightPerDevice',
      replace: 'ofDevice >= inFlight',
      caughtBy: 'has its share of invocations',
    },
    {
      fault: 'has no bound',
      find: 'begun >= inFlight)',
      replace: 'begun > inFlight * 2)',
      caughtBy: 'takes a thousand invocations at once, refuses one more',
    },
  ),
  ...inFile(
    'src/methods/course.ts',
    test('load'),
    {
      fault: 'frees the room of a caller that has gone while the device still works',
      find: 'if (isWorking || isConcluded ||',
      replace: 'if (isConcluded ||',
      caughtBy: 'leaves no trace but the line in the log',
    },
    {
      fault: 'never frees the room',
      find: '    ended();\n',
      replace: '',
      caughtBy: 'has its share of invocations',
    },
  ),
  ...inFile('src/hub/methods/directMethods.ts', test('hub'), {
    fault: 'waits for the hub as long as it likes',
    find: 'timeoutSeconds * 1000 + graceMs',
    replace: '2 ** 31 - 1',
    caughtBy: 'never answers: the call ends by our own deadline',
  }),
  ...inFile('src/hub/methods/directMethods.ts', test('hub'), {
    fault: 'leaves the client its retries',
    find: 'client.setRetryPolicy(noRetry);',
    replace: 'void noRetry;',
    caughtBy: 'is asked once, even if it answers',
  }),
  ...inFile('src/hub/methods/requests.ts', test('device'), {
    fault: 'decodes an answer piece by piece',
    find: "  answer.setEncoding('utf8');\n",
    replace: '',
    caughtBy: 'may have 131,072 bytes, and not one more',
  }),
  ...inFile('src/hub/methods/hubError.ts', test('hubError'), {
    fault: 'believes the class of an error rather than the hub’s code',
    find: '(code === undefined ? undefined : byCode[code]) ?? ',
    replace: '',
    caughtBy: '404 with code 404001 is device_unknown',
  }),
  ...inFile('src/methods/answer.ts', test('device'), {
    fault: 'lets a device say that a token is wrong',
    find: "  400: 'refused_by_device',",
    replace: "  400: 'refused_by_device',\n  401: 'unauthorized',",
    caughtBy: 'with the status 401 is a bad reply',
  }),
  ...inFile('src/methods/fileName.ts', test('files'), {
    fault: 'lets names of files climb',
    find: '(?!\\.{1,2}(?:\\/|$))[^\\p{Cc}\\p{Cs}\\\\/]+(?:',
    replace: '[^\\p{Cc}\\p{Cs}\\\\/]+(?:',
    caughtBy: 'must have a name that stays in its place: ".."',
  }),
  ...inFile('src/hub/methods/files.ts', test('files'), {
    fault: 'signs for more than reading',
    find: "BlobSASPermissions.parse('r')",
    replace: "BlobSASPermissions.parse('rwd')",
    caughtBy: 'is handed to the device as a signature for it alone',
  }),
  ...inFile('src/methods/fileInputs.ts', test('files'), {
    fault: 'forgets the folder of the tenant',
    find: "if (tenantClaim === '') return name;",
    replace: 'return name;',
    caughtBy: 'is where its files are',
  }),
  ...inFile('src/settings/agreements.ts', test('settings'), {
    fault: 'lets methods near the checkpoints',
    find: 'filter(([, name]) => name === container)',
    replace: 'filter(() => false)',
    caughtBy: 'never let methods near the container checkpoints',
  }),
];
