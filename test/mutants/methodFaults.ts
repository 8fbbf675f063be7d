import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const test = (name: string) => [`test/methods/${name}.test.ts`];
const lookUps = ['test/backends/objectForCaller.test.ts'];

/** In the front door of remote methods. */
export const methodFaults: readonly Fault[] = [
  ...inFile('src/methods/invoke.ts', test('invoke'), {
    fault: 'sends the caller’s claims to the device',
    find: '      target,\n      method,\n',
    replace: '      target,\n      claims,\n      method,\n',
    caughtBy: 'is invoked by a POST on its path, and its status and output are the response',
  }),
  ...inFile('src/methods/correlation.ts', test('invoke'), {
    fault: 'passes on any correlation id that a caller sends',
    find: "typeof header === 'string' && correlationForm.test(header) ?",
    replace: "typeof header === 'string' ?",
    caughtBy: 'gets a new correlation id instead of one',
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
      find: "'x-svc-operation': 'invoke'",
      replace: '',
      caughtBy: 'goes only to the information model, without a device id',
    },
    {
      fault: 'sends a device id with the caller’s token',
      find: "'x-svc-operation': 'invoke'",
      replace: "'x-svc-operation': 'invoke', 'x-svc-device-id': 'motor-1'",
      caughtBy: 'goes only to the information model, without a device id',
    },
  ),
  ...inFile(
    'src/backends/objectForCaller.ts',
    test('backends'),
    {
      fault: 'passes on any Retry-After',
      find: 'plainRetryAfter(retryAfter)',
      replace: 'retryAfter',
      caughtBy: 'says soon in Retry-After',
    },
    {
      fault: 'accepts a response with another object',
      find: 'found?.objectId.toLowerCase() !== objectId.toLowerCase() || ',
      replace: 'found === undefined || ',
      caughtBy: 'of another object is reported as unavailable',
    },
  ),
  ...inFile(
    'src/methods/requestHandler.ts',
    test('bodies'),
    {
      fault: 'takes the permit of the device before the body has come',
      find: '        checkBodyHeaders(headers);\n',
      replace: '        checkBodyHeaders(headers);\n        release = concurrency.acquireInvocation(route.device);\n',
      caughtBy: 'takes no permit of the device',
    },
    {
      fault: 'looks at the body before it knows the caller',
      find: '        const token = bearerToken(headers.authorization);\n',
      replace: '        const token = bearerToken(headers.authorization);\n        checkBodyHeaders(headers);\n',
      caughtBy: 'is not told to callers who may not invoke',
    },
    {
      fault: 'keeps the place of a body that has come',
      find: '          received();\n',
      replace: '          void received;\n',
      caughtBy: 'counts for its caller',
    },
  ),
  ...inFile('src/methods/requestHandler.ts', test('acceptedTokens'), {
    fault: 'knows tokens that differ from an accepted one',
    find: 'const hash = tokenHash(token);',
    replace: 'const hash = tokenHash(token.toLowerCase());',
    caughtBy: 'is recognised by exactly the accepted token',
  }),
  ...inFile('src/methods/acceptedTokens.ts', test('acceptedTokens'), {
    fault: 'knows tokens for ever',
    find: 'performance.now() + keptMs',
    replace: 'Number.POSITIVE_INFINITY',
    caughtBy: 'are remembered for ten minutes',
  }),
  ...inFile('src/backends/bulkhead.ts', lookUps, {
    fault: 'looks known tokens up in their turn',
    find: 'freeAt(waitingFor), goesFirst)',
    replace: 'freeAt(waitingFor), false)',
    caughtBy: 'takes precedence over waiting ones',
  }),
  ...inFile(
    'src/backends/bulkhead.ts',
    lookUps,
    {
      fault: 'gives look-ups of callers more connections than there are',
      find: '        if (!all.tryAcquire()) await all.acquire(deadline, freeAt(waitingFor));\n',
      replace: '        all.tryAcquire();\n',
      caughtBy: 'have only the connections that the service’s calls leave',
    },
    {
      fault: 'keeps the place of a look-up whose time is over before a connection is free',
      find: '        ofCallers.release();\n        throw error;',
      replace: '        throw error;',
      caughtBy: 'their slots are free again after their time-out',
    },
  ),
  ...inFile('src/backends/onceFor.ts', lookUps, {
    fault: 'keeps the place of a look-up at whose end the circuit is open',
    find: '        bulkhead.leaveAsCaller();\n',
    replace: '        if (!isOut()) bulkhead.leaveAsCaller();\n',
    caughtBy: 'releases its slot also when the circuit is open at its end',
  }),
  ...inFile('src/backends/http.ts', lookUps, {
    fault: 'renews our token when that of a caller is refused',
    find: 'createAttempt({ adapter: network, maxAnswerBytes, tokens, name })',
    replace:
      'createAttempt({ adapter: network, maxAnswerBytes, tokens: { ...tokens, renew: options.tokens.renew }, name })',
    caughtBy: 'do not renew the service’s token when the caller’s is refused',
  }),
  ...inFile(
    'src/backends/attemptOutcome.ts',
    lookUps,
    {
      fault: 'takes look-ups without an answer for an outage',
      find: 'circuit.probeNow(response.fault)',
      replace: "for (const one of '123456') circuit.failed(one, response.fault)",
      caughtBy: 'is decided by one probe with the service’s token',
    },
    {
      fault: 'lets responses to callers count for the circuit',
      find: "if (!(response instanceof TransportFailure) || response.fault === 'answer too large') return;",
      replace:
        "if (!(response instanceof TransportFailure) || response.fault === 'answer too large') return circuit.succeeded();",
      caughtBy: 'ignores the results of callers, also successes',
    },
  ),
  ...inFile('src/backends/objectForCaller.ts', lookUps, {
    fault: 'passes on what the information model says as it is',
    find: 'redact(text, token)',
    replace: 'text',
    caughtBy: 'is passed on without the token of the caller',
  }),
  ...inFile('src/backends/backendOpener.ts', test('backends'), {
    fault: 'does not know our secrets that the information model may quote',
    find: 'createRedaction(secrets ?? [settings.token, settings.clientSecret])',
    replace: 'createRedaction([])',
    caughtBy: 'that quotes our secrets passes none of them on to callers',
  }),
  ...inFile('src/methods/httpServer.ts', test('tls'), {
    fault: 'takes the oldest TLS that Node allows',
    find: ", minVersion: 'TLSv1.2' as const",
    replace: '',
    caughtBy: 'with TLSv1.1',
  }),
  ...inFile('src/backends/bulkhead.ts', ['test/backends/bulkhead.test.ts'], {
    fault: 'lets calls with precedence wait behind the others',
    find: 'first.shift() ?? rest.shift()',
    replace: 'rest.shift() ?? first.shift()',
    caughtBy: 'grants slots to calls with precedence before others, in order of arrival',
  }),
  ...inFile('src/methods/recentCallers.ts', test('concurrencyLimits'), {
    fault: 'forgets the others when the caller asks again',
    find: 'known?.latest.caller === caller ? known.other : known?.latest',
    replace: 'known?.latest.caller === caller ? undefined : known?.latest',
    caughtBy: 'does not grow by repeated requests, or by having no invocation in progress',
  }),
  ...inFile('src/methods/receiveBody.ts', test('receiveBody'), {
    fault: 'takes a body of one byte too many',
    find: 'bytes > maxBodyBytes',
    replace: 'bytes > maxBodyBytes + 1',
    caughtBy: 'has 262,144 bytes at most',
  }),
  ...inFile('src/methods/server.ts', test('bodies'), {
    fault: 'asks for a body before the caller is known',
    find: '          await invocation.authorize(headers);\n          if (isContinue(headers.expect)) reply.raw.writeContinue();\n',
    replace:
      '          if (isContinue(headers.expect)) reply.raw.writeContinue();\n          await invocation.authorize(headers);\n',
    caughtBy: 'brings no body when the caller may not invoke',
  }),
  ...inFile('src/methods/httpServer.ts', test('malformed'), {
    fault: 'leaves a missing Host to Node',
    find: '  requireHostHeader: false,\n',
    replace: '',
    caughtBy: 'without Host has an answer with the body of errors',
  }),
  ...inFile('src/methods/httpServer.ts', test('bodies'), {
    fault: 'leaves an unknown expectation to Node',
    find: "  server.on('checkExpectation', listener);\n",
    replace: '',
    caughtBy: 'with an unknown expectation is refused',
  }),
  ...inFile('src/methods/drain.ts', test('drain'), {
    fault: 'leaves no time for the answers to what a stop aborts',
    find: 'closed, drainMs - answerMs)',
    replace: 'closed, drainMs)',
    caughtBy: 'the drain aborts open requests while there is time for their answers, and closes the rest at its end',
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
      fault: 'accepts undeclared inputs of methods without inputs',
      find: 'if (dataType === undefined) return',
      replace: 'if (dataType === undefined && declared !== undefined) return',
      caughtBy: 'of a method without inputs is refused',
    },
  ),
  ...inFile('src/methods/concurrencyLimits.ts', test('load'), {
    fault: 'lets one device use the total limit',
    find: 'ofDevice >= inFlightPerDevice',
    replace: 'ofDevice >= inFlight',
    caughtBy: 'has a limit of invocations',
  }),
  ...inFile('src/methods/concurrencyLimits.ts', test('concurrencyLimits'), {
    fault: 'lets wrong tokens wait in the place of authorized callers',
    find: 'const lookUpsPerInvocation = 4;',
    replace: 'const lookUpsPerInvocation = 1;',
    caughtBy: 'are four for each invocation in progress',
  }),
  ...inFile(
    'src/methods/requestEnd.ts',
    test('load'),
    {
      fault: 'frees the capacity of a disconnected caller while the device still works',
      find: 'if (isWorking || hasEnded ||',
      replace: 'if (hasEnded ||',
      caughtBy: 'leaves a log line, and its capacity is free',
    },
    {
      fault: 'never frees the capacity',
      find: '    onEnd(response.status, failure);\n',
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
    fault: 'decodes each piece of a response separately',
    find: 'else joined.add(piece);',
    replace: "else joined.add(Buffer.from(piece.toString('utf8')));",
    caughtBy: 'may have 131,072 bytes, and not one more',
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
      caughtBy: 'that a type redeclares keeps the inputs of its base types; the nearest declaration of an input counts',
    },
    {
      fault: 'lets the farthest declaration of an input count',
      find: 'declarations.toReversed()',
      replace: 'declarations',
      caughtBy: 'that a type redeclares keeps the inputs of its base types; the nearest declaration of an input counts',
    },
  ),
  ...inFile('src/methods/requestHandler.ts', test('backends'), {
    fault: 'logs the path of an object at any length',
    find: 'fields.target = shortened(route.target, maxLoggedPath)',
    replace: 'fields.target = route.target',
    caughtBy: 'of an object with an endless path leaves a log line of usual length',
  }),
  ...inFile('src/backends/objectForCaller.ts', test('backends'), {
    fault: 'tells callers the host of the information model',
    find: 'hideHosts(redact(text, token))',
    replace: 'redact(text, token)',
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
  ...inFile('src/settings/agreements.ts', test('settings'), {
    fault: 'allows the container of the checkpoints',
    find: 'filter(([, name]) => name === container)',
    replace: 'filter(() => false)',
    caughtBy: 'refuse the container checkpoints for files of methods',
  }),
];
