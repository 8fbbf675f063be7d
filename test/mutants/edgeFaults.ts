import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const test = (name: string) => [`test/edge/${name}.test.ts`];

/** In the edge proxy. */
export const edgeFaults: readonly Fault[] = [
  ...inFile(
    'edge/src/modules/routing.ts',
    test('routing'),
    {
      fault: 'matches targets by half a segment',
      find: "end = end > 0 ? Math.max(0, target.lastIndexOf('/', end - 1)) : -1",
      replace: 'end -= 1',
      caughtBy: 'matches no half segment',
    },
    {
      fault: 'prefers the gateway of the target to that of the object',
      find: '    if (ofObject) return ofObject;\n',
      replace: '    if (ofObject && !byTarget.has(target)) return ofObject;\n',
      caughtBy: 'goes to the gateway of its object rather than that of its target',
    },
    {
      fault: 'prefers the gateway above to the owner of the identity',
      find: '    if (ofIdentity) {',
      replace: "    if (ofIdentity && !byTarget.has(target.split('/')[0] ?? '')) {",
      caughtBy: 'goes to the owner of its identity rather than to the gateway above',
    },
  ),
  ...inFile('edge/src/configuration/jsonWithComments.ts', test('configuration'), {
    fault: 'does not count the lines of comments',
    find: "skipped.split('\\n').length - 1",
    replace: "skipped.replaceAll(/\\/\\*.*?\\*\\//gs, '').split('\\n').length - 1",
    caughtBy: 'knows the line of each value, and of the nearest one around what is missing',
  }),
  ...inFile('edge/src/invocations/proxy.ts', test('modules'), {
    fault: 'responds after the time-out of the hub',
    find: 'const marginSeconds = 1;',
    replace: 'const marginSeconds = 0;',
    caughtBy: 'that comes too late is dropped and is not used for the next request',
  }),
  ...inFile('edge/src/modules/pendingReplies.ts', test('modules'), {
    fault: 'accepts the reply of any module',
    find: 'const key = keyOf(topic, requestId);',
    replace: 'const key = [...requests.keys()].find((one) => one.endsWith(requestId)) ?? keyOf(topic, requestId);',
    caughtBy: 'to the request of another module is dropped',
  }),
  ...inFile('edge/src/modules/reply.ts', test('reply'), {
    fault: 'carries replies that change on the way',
    find: 'if (problem !== undefined) return malformed',
    replace: 'if (problem?.includes(String(maxDepth))) return malformed',
    caughtBy: 'with a whole number that changes is a bad reply',
  }),
  ...inFile('edge/src/hub/methodResponse.ts', test('modules'), {
    fault: 'says that a method without a reply has not run',
    find: "no_reply: { status: 504, invoked: 'unknown' }",
    replace: "no_reply: { status: 504, invoked: 'no' }",
    caughtBy: 'that comes too late is dropped and is not used for the next request',
  }),
  ...inFile(
    'edge/src/modules/exactJson.ts',
    test('exactJson'),
    {
      fault: 'compares the digits of numbers, and not their place',
      find: 'given.digits === carried.digits && given.exponent === carried.exponent',
      replace: 'given.digits.startsWith(carried.digits)',
      caughtBy: 'arrives as it was exactly when the digits of a whole number do not change',
    },
    {
      fault: 'takes the keys of an inner object for those of the outer one',
      find: "if (bracket === '}' || bracket === ']') open.pop();",
      replace: "if (bracket === '}' || bracket === ']') continue;",
      caughtBy: 'arrives as it was: {"a":{"x":1},"x":3}',
    },
  ),
  ...inFile('edge/src/hub/invocation.ts', test('modules'), {
    fault: 'allows wildcards as methods',
    find: '/^\\$|[/+#]/',
    replace: '/^\\$|[/]/',
    caughtBy: 'never gets the method "+", which is not a valid topic segment',
  }),
  ...inFile('edge/src/files/download.ts', test('fileInputs'), {
    fault: 'accepts a file that is one byte too long',
    find: 'if (count > bytes) throw',
    replace: 'if (count > bytes + 1) throw',
    caughtBy: 'when its host sends one byte more than the signed length',
  }),
  ...inFile(
    'edge/src/files/usage.ts',
    test('fileInputs'),
    {
      fault: 'does not count folders',
      find: '      files += 1;\n',
      replace: '      if (!(await lstat(join(dir.path, name))).isDirectory()) files += 1;\n',
      caughtBy: 'has a maximum number of entries, those of folders below included',
    },
    {
      fault: 'counts downloads in progress twice',
      find: '(name) => !isOwn(name)',
      replace: '(name) => isOwn !== undefined || name !== undefined',
      caughtBy: 'does not count downloads in progress twice',
    },
    {
      fault: 'follows links',
      find: 'lstat(path).catch',
      replace: "(await import('node:fs/promises')).stat(path).catch",
      caughtBy: 'does not count what a link leads to',
    },
  ),
  ...inFile(
    'edge/src/files/moduleFolder.ts',
    test('fileInputs'),
    {
      fault: 'removes folders that have the name of a leftover',
      find: ' && !entry.isDirectory();',
      replace: ';',
      caughtBy: 'is made at the start, with those above it, and leftovers of unfinished downloads are removed',
    },
    {
      fault: 'ignores files with the name of an unfinished download',
      find: 'ownBefore.has(name) || own.has(name)',
      replace: 'temporary.test(name) || own.has(name)',
      caughtBy: 'has a quota, which includes files with the name of an unfinished download',
    },
    {
      fault: 'ignores files that a module has not removed',
      find: 'used.bytes + before.bytes + bytes > quotaBytes',
      replace: 'before.bytes + bytes > quotaBytes',
      caughtBy: 'has a quota, which includes files that the module has not removed',
    },
  ),
  ...inFile('edge/src/files/moduleFolder.ts', test('reload'), {
    fault: 'takes downloads in progress for leftovers when the configuration is read again',
    find: ' && !own.has(entry.name)',
    replace: '',
    caughtBy: 'leaves downloads in progress with their module, their quota and their files',
  }),
  ...inFile('edge/src/files/fileInputs.ts', test('reload'), {
    fault: 'forgets the reservations of a folder when the configuration is read again',
    find: 'known.get(path) ?? createModuleFolder(path)',
    replace: 'createModuleFolder(path)',
    caughtBy: 'leaves downloads in progress with their module, their quota and their files',
  }),
  ...inFile('edge/src/configuration/watch.ts', test('watch'), {
    fault: 'stops looking at the file when it had a fault',
    find: 'await readConfiguration(path, read)',
    replace: 'await readConfiguration(path)',
    caughtBy: 'with a fault are refused once, and read when they are right again',
  }),
  ...inFile('telemetry/src/files/watchFiles.ts', test('watch'), {
    fault: 'reads a file that is being written',
    find: '!isStill',
    replace: '!isStill === undefined',
    caughtBy: 'are left alone while one is being written',
  }),
  ...inFile('telemetry/src/files/stamps.ts', test('watch'), {
    fault: 'looks at a link, not at where it leads',
    find: 'await stat(path, { bigint: true })',
    replace: "await (await import('node:fs/promises')).lstat(path, { bigint: true })",
    caughtBy: 'may be behind links that are replaced above them, as those of a mounted config map',
  }),
  ...inFile('edge/src/modules/replyTopics.ts', test('reload'), {
    fault: 'drops the replies to requests of the former configuration',
    find: '[...new Set([...used.keys(), ...held.keys()])]',
    replace: '[...used.keys()]',
    caughtBy: 'leaves invocations in progress with the one that they began with',
  }),
  ...inFile('edge/src/modules/subscriptions.ts', test('reload'), {
    fault: 'never unsubscribes',
    find: 'await client.unsubscribeAsync',
    replace: 'void Promise.resolve',
    caughtBy: 'adds and removes modules, and their subscriptions',
  }),
  ...inFile('edge/src/invocations/setups.ts', test('reload'), {
    fault: 'forgets that the file has a fault',
    find: 'problems = found.slice(0, mostProblems);',
    replace: 'problems = found.slice(0, 0);',
    caughtBy: 'with a fault is refused with its line, and the last good one stays in effect',
  }),
  ...inFile('edge/src/invocations/proxy.ts', ['test/edge/files.test.ts'], {
    fault: 'asks to repeat later what a module without a folder can never get',
    find: "refused: 'takes_no_files',",
    replace: "refused: 'folder_unavailable',",
    caughtBy: 'is missing for a module that takes no files',
  }),
];
