import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const test = (name: string) => [`test/methods/${name}.test.ts`];

/** In the front door of remote methods. */
export const methodFaults: readonly Fault[] = [
  ...inFile('src/methods/invoke.ts', test('invoke'), {
    fault: 'sends the caller’s claims to the device',
    find: '      target,\n      method,\n',
    replace: '      target,\n      claims,\n      method,\n',
    caughtBy: 'is invoked by a POST on its path, and its status and output are the response',
  }),
  ...inFile('src/methods/invoke.ts', test('invoke'), {
    fault: 'spells the object id as the caller does',
    find: '      objectId,\n      model,\n      target,',
    replace: '      objectId: fields.objectId,\n      model,\n      target,',
    caughtBy: 'names the object as the information model spells it',
  }),
  ...inFile('src/hub/methods/directMethods.ts', test('invoke'), {
    fault: 'waits for the device to connect',
    find: 'connectTimeoutInSeconds: 0',
    replace: 'connectTimeoutInSeconds: timeoutSeconds',
    caughtBy: 'is a direct method that does not wait for the device to connect',
  }),
  ...inFile('src/methods/invoke.ts', test('input'), {
    fault: 'sends a payload of any size',
    find: 'bytes > maxPayloadBytes',
    replace: 'bytes > maxPayloadBytes + 1',
    caughtBy: 'may have 131,072 bytes, and not one more',
  }),
  ...inFile('src/methods/invoke.ts', test('invoke'), {
    fault: 'leaves out an empty input',
    find: '...(inputs !== undefined && { input }),',
    replace: '...(body.input !== undefined && { input }),',
    caughtBy: 'gets an empty input when no input is given',
  }),
  ...inFile(
    'src/backends/objectForCaller.ts',
    test('invoke'),
    {
      fault: 'reads the object without the operation',
      find: "        'x-svc-operation': 'invoke',\n",
      replace: '',
      caughtBy: 'goes only to the information model, without a device id',
    },
    {
      fault: 'sends a device id with the caller’s token',
      find: "        'x-svc-operation': 'invoke',\n",
      replace: "        'x-svc-operation': 'invoke',\n        'x-svc-device-id': 'motor-1',\n",
      caughtBy: 'goes only to the information model, without a device id',
    },
  ),
  ...inFile(
    'src/backends/objectForCaller.ts',
    test('backends'),
    {
      fault: 'lets responses to callers open the circuit',
      find: 'const isExpected = isPassing(status)',
      replace: "circuit.failed(objectId + performance.now(), 'x');\n    const isExpected = isPassing(status)",
      caughtBy: 'is not considered unavailable because of error responses to callers',
    },
    {
      fault: 'accepts a response with another object',
      find: 'found?.objectId.toLowerCase() !== objectId.toLowerCase() || ',
      replace: 'found === undefined || ',
      caughtBy: 'of another object is reported as unavailable',
    },
  ),
  ...inFile(
    'src/methods/server.ts',
    test('input'),
    {
      fault: 'coerces types',
      find: 'coerceTypes: false',
      replace: 'coerceTypes: true',
      caughtBy: 'which is neither rounded nor converted',
    },
    {
      fault: 'drops unknown members',
      find: 'removeAdditional: false',
      replace: 'removeAdditional: true',
      caughtBy: 'with another member is refused',
    },
  ),
  ...inFile('src/methods/server.ts', test('load'), {
    fault: 'keeps connections open while it stops',
    find: "if (handler.isStopping()) reply.header('connection', 'close');",
    replace: '',
    caughtBy: 'that stops finishes the invocations in progress',
  }),
  ...inFile('src/methods/drain.ts', test('drain'), {
    fault: 'leaves no time for the answers to what a stop aborts',
    find: 'closed, drainMs - answerMs)',
    replace: 'closed, drainMs)',
    caughtBy: 'aborts what is open while there is time for the answers',
  }),
  ...inFile('src/methods/requestHandler.ts', test('load'), {
    fault: 'goes on with look-ups when a stop aborts them',
    find: 'await deadline.unlessCancelled(backends.readObject(objectId, model, caller));',
    replace: 'await backends.readObject(objectId, model, caller);',
    caughtBy: 'while the object is looked up says that nothing was invoked',
  }),
  ...inFile('src/methods/frontDoor.ts', test('load'), {
    fault: 'waits for a collector however long it takes',
    find: 'await endsWithin(Promise.all(closed), latest - performance.now());',
    replace: 'await Promise.all(closed);',
    caughtBy: 'does not wait for a collector of spans',
  }),
  ...inFile('src/hub/methods/hubAccess.ts', test('load'), {
    fault: 'takes calls that a stop has ended for trouble of the hub',
    find: "if (failure === 'stopped' ||",
    replace: 'if (failure === undefined ||',
    caughtBy: 'that stops after the drain time reports an unknown outcome',
  }),
  ...inFile(
    'src/methods/inputs.ts',
    test('input'),
    {
      fault: 'accepts integers that a double rounds',
      find: 'integer: (value) => (Number.isSafeInteger(value)',
      replace: 'integer: (value) => (Number.isInteger(value)',
      caughtBy: 'beyond 2^53 is refused with its name',
    },
    {
      fault: 'accepts decimals that are rounded to an integer',
      find: "dataType === 'integer' && rounded.has(name)",
      replace: 'false',
      caughtBy: 'that is only rounded to an integer is refused',
    },
    {
      fault: 'accepts undeclared inputs of methods without inputs',
      find: 'if (dataType === undefined) return',
      replace: 'if (dataType === undefined && declared !== undefined) return',
      caughtBy: 'of a method without inputs is refused',
    },
  ),
  ...inFile(
    'src/methods/concurrencyLimits.ts',
    test('load'),
    {
      fault: 'lets one device use the total limit',
      find: 'ofDevice >= inFlightPerDevice',
      replace: 'ofDevice >= inFlight',
      caughtBy: 'has a limit of invocations',
    },
    {
      fault: 'has no total limit',
      find: 'invocations >= inFlight)',
      replace: 'invocations > inFlight * 2)',
      caughtBy: 'accepts a thousand invocations at once, refuses one more',
    },
  ),
  ...inFile(
    'src/methods/concurrencyLimits.ts',
    test('concurrencyLimits'),
    {
      fault: 'lets wrong tokens wait in the place of authorized callers',
      find: 'const lookUpsPerInvocation = 4;',
      replace: 'const lookUpsPerInvocation = 1;',
      caughtBy: 'are four for each invocation in progress',
    },
    {
      fault: 'gives a place back twice',
      find: 'if (!isReleased) release();',
      replace: 'release();',
      caughtBy: 'gets its place back once',
    },
  ),
  ...inFile(
    'src/methods/requestLog.ts',
    test('load'),
    {
      fault: 'frees the capacity of a disconnected caller while the device still works',
      find: 'if (isWorking || isWritten ||',
      replace: 'if (isWritten ||',
      caughtBy: 'leaves a log line, and its capacity is free',
    },
    {
      fault: 'never frees the capacity',
      find: '    onEnd();\n',
      replace: '',
      caughtBy: 'has a limit of invocations',
    },
  ),
  ...inFile('src/hub/methods/directMethods.ts', test('hub'), {
    fault: 'waits for the hub without a time-out',
    find: 'timeoutSeconds * 1000 + graceMs',
    replace: '2 ** 31 - 1',
    caughtBy: 'never responds: the call ends by the time-out of the front door',
  }),
  ...inFile('src/hub/methods/directMethods.ts', test('hub'), {
    fault: 'keeps the retries of the client',
    find: 'client.setRetryPolicy(noRetry);',
    replace: 'void noRetry;',
    caughtBy: 'gets each call once, even if it responds with',
  }),
  ...inFile('src/hub/methods/httpsRequests.ts', test('device'), {
    fault: 'decodes each chunk of a response separately',
    find: "  response.setEncoding('utf8');\n",
    replace: '',
    caughtBy: 'may have 131,072 bytes, and not one more',
  }),
  ...inFile('src/hub/methods/hubError.ts', test('hubError'), {
    fault: 'ignores the error code of the hub',
    find: '(code === undefined ? undefined : byCode[code]) ?? ',
    replace: '',
    caughtBy: '404 with code 404001 is device_unknown',
  }),
  ...inFile('src/methods/requestBody.ts', test('input'), {
    fault: 'passes on inputs that change on the way',
    find: 'if (inexact !== undefined)',
    replace: 'if (inexact === null)',
    caughtBy: 'with a number that would become 0 is refused',
  }),
  ...inFile('src/methods/methodResponse.ts', test('methodResponse'), {
    fault: 'passes on outputs that have changed on the way',
    find: 'if (inexact !== undefined)',
    replace: 'if (inexact === null)',
    caughtBy: 'with a repeated key in the output is a bad reply',
  }),
  ...inFile('src/methods/methodResponse.ts', test('device'), {
    fault: 'allows a device to report a wrong token',
    find: "  404: { reason: 'unknown_to_device'",
    replace: "  401: { reason: 'unauthorized', problem: '' },\n  404: { reason: 'unknown_to_device'",
    caughtBy: 'with the status 401 is a bad reply',
  }),
  ...inFile(
    'src/methods/methodResponse.ts',
    test('device'),
    {
      fault: 'ignores what a device says of the effect',
      find: 'effects.find((effect) => effect === said) ?? ',
      replace: '',
      caughtBy: 'with the status 502 may say whether the method has run: {"invoked":"yes"',
    },
    {
      fault: 'forgets that a method with a wrong output has run',
      find: "{ methodStatus, invoked: 'yes' } as const",
      replace: '{ methodStatus } as const',
      caughtBy: 'whose output is not an object is a bad reply',
    },
  ),
  ...inFile(
    'src/backends/methodDeclarations.ts',
    ['test/backends/methodDeclarations.test.ts'],
    {
      fault: 'forgets the inputs of base types',
      find: 'const inputs = new Map(declarations.toReversed()',
      replace: 'const inputs = new Map(declarations.slice(0, 1)',
      caughtBy: 'that a type declares again keeps the inputs of its base types',
    },
    {
      fault: 'lets the farthest declaration of an input count',
      find: 'declarations.toReversed()',
      replace: 'declarations',
      caughtBy: 'that a type declares again keeps the inputs of its base types',
    },
  ),
  ...inFile('src/methods/declaration.ts', test('backends'), {
    fault: 'takes an unknown type for one without methods',
    find: ' || lineage.types.length === 0',
    replace: '',
    caughtBy: 'of a type that does not exist',
  }),
  ...inFile('src/methods/requestHandler.ts', test('backends'), {
    fault: 'logs the path of an object at any length',
    find: 'fields.target = shortened(route.target, maxLoggedPath)',
    replace: 'fields.target = route.target',
    caughtBy: 'of an object with an endless path leaves a log line of usual length',
  }),
  ...inFile('src/backends/objectForCaller.ts', test('backends'), {
    fault: 'tells callers the host of the information model',
    find: 'hideHosts(redact(text, caller.token))',
    replace: 'redact(text, caller.token)',
    caughtBy: 'of a refusal that names its host is passed on without the name',
  }),
  ...inFile('src/methods/methodResponse.ts', test('device'), {
    fault: 'passes on addresses in the detail of a device',
    find: "    .replace(/\\bhttps?:\\/\\/\\S+/gi, '…')",
    replace: '    ',
    caughtBy: 'has no addresses in its detail, which may be signed',
  }),
  ...inFile('src/methods/route.ts', test('backends'), {
    fault: 'accepts any segment in the path of an object',
    find: '!pathForm.safeParse(path).success',
    replace: "path.startsWith('.')",
    caughtBy: 'with the path "motor-1//x"',
  }),
  ...inFile('src/methods/fileName.ts', test('files'), {
    fault: 'allows .. in file names',
    find: '(?!\\.{1,2}(?:\\/|$))[^\\p{Cc}\\p{Cs}\\\\/]+(?:',
    replace: '[^\\p{Cc}\\p{Cs}\\\\/]+(?:',
    caughtBy: 'must have a valid name: ".."',
  }),
  ...inFile('src/hub/methods/fileStorage.ts', test('files'), {
    fault: 'signs for more than reading',
    find: "BlobSASPermissions.parse('r')",
    replace: "BlobSASPermissions.parse('rwd')",
    caughtBy: 'is sent to the device with a signature for reading this file only',
  }),
  ...inFile('src/methods/fileInputs.ts', test('files'), {
    fault: 'ignores the folder of the tenant',
    find: "if (tenantClaim === '') return name;",
    replace: 'return name;',
    caughtBy: 'is the prefix of its file names',
  }),
  ...inFile('src/settings/agreements.ts', test('settings'), {
    fault: 'allows the container of the checkpoints',
    find: 'filter(([, name]) => name === container)',
    replace: 'filter(() => false)',
    caughtBy: 'refuse the container checkpoints for files of methods',
  }),
];
