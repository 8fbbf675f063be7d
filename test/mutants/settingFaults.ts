import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const every = ['test/settings/everySetting.test.ts'];

/** In what is checked before the service starts, and in what settings mean. */
export const settingFaults: readonly Fault[] = [
  ...inFile(
    'src/settings/formats.ts',
    ['test/settings/config.test.ts'],
    {
      fault: 'takes a number of any size',
      find: 'value >= minimum &&\n        value <= maximum',
      replace: 'value >= minimum',
      caughtBy: 'have a least and a largest value',
    },
    {
      fault: 'takes a token that no header can carry',
      find: '/^[\\x21-\\x7e]*$/',
      replace: '/^/',
      caughtBy: 'refuse a token that no HTTP header can carry',
    },
  ),
  ...inFile('src/settings/config.ts', ['test/settings/config.test.ts'], {
    fault: 'complains of what is in the quotes of a value, too',
    find: '[[name, withoutQuotes(value)]]',
    replace: '[[name, value]]',
    caughtBy: 'is refused for its quotes alone',
  }),
  ...inFile('src/settings/secretFile.ts', ['test/settings/secretFiles.test.ts'], {
    fault: 'follows a changed file to another account',
    find: ' && placeIn(value) !== placeIn(first)',
    replace: " && placeIn(value) === ''",
    caughtBy: 'is refused when it is for something else, or malformed',
  }),
  ...inFile(
    'src/identity/secretFiles.ts',
    ['test/identity/secretFiles.test.ts'],
    {
      fault: 'uses whatever stands in the file of a secret',
      find: 'refuseUnfit(one, next, first);',
      replace: '',
      caughtBy: 'stays as it was while its file',
    },
    {
      fault: 'does not know a secret that came later when it looks for secrets',
      find: 'addSecret(settings, path, next);',
      replace: '',
      caughtBy: 'all secrets that there were stay out of what leaves the program',
    },
    {
      fault: 'reads the file of a secret as often as others ask with a wrong one',
      find: 'performance.now() - renewedAt >= restMs',
      replace: 'true',
      caughtBy: 'is read by the first of all that ask, and not again for a second',
    },
  ),
  ...inFile('src/settings/agreements.ts', ['test/settings/config.test.ts'], {
    fault: 'takes a fixed token beside a token endpoint',
    find: "if (token !== '' && tokenUrl !== '')",
    replace: 'if (false)',
    caughtBy: 'BACKENDS_TOKEN_URL=https://login.example/token is refused',
  }),
  ...inFile(
    'src/settings/agreements.ts',
    ['test/settings/config.test.ts', 'test/methods/settings.test.ts'],
    {
      fault: 'lets dead letters be without an account when the checkpoints have one',
      find: 'without.length === 0',
      replace: 'without.length < 2',
      caughtBy: 'are refused with none for the dead letters',
    },
    {
      fault: 'lets an account be named that files do not need',
      find: "...(connectionString !== '' ?",
      replace: "...(connectionString === 'used' ?",
      caughtBy: 'are refused with an account that files do not need, by the variable',
    },
    {
      fault: 'takes a signature for the key that signs files',
      find: '!hasAccountKey(store.connectionString)',
      replace: '!store.connectionString',
      caughtBy: 'are refused with a store whose connection string can sign for no file',
    },
  ),
  ...inFile('src/settings/settingsFile.ts', ['test/settings/config.test.ts'], {
    fault: 'takes development settings when no environment is named',
    find: "environment = 'production'",
    replace: "environment = 'development'",
    caughtBy: 'are those of production when NODE_ENV is',
  }),
  ...inFile('src/settings/config.ts', ['test/settings/config.test.ts'], {
    fault: 'says that the file changed what a variable sets',
    find: 'variables[setting.env] === undefined && ',
    replace: '',
    caughtBy: 'of a file are named at the start',
  }),
  ...inFile('src/settings/variables.ts', ['test/settings/config.test.ts'], {
    fault: 'takes what Kubernetes sets for misspelt settings',
    find: '/^(tcp|udp|sctp):\\/\\//.test(value)',
    replace: 'false',
    caughtBy:
      'do not include empty ones, those of other programs, or those that Kubernetes sets for a service of such a name',
  }),
  ...inFile('src/settings/directories.ts', ['test/operations/writable.test.ts'], {
    fault: 'asks for a folder that a store in blobs does not need',
    find: "store.kind === 'file'",
    replace: "store.kind !== ''",
    caughtBy: 'STORE=blob uses',
  }),
  ...inFile('src/operations/writable.ts', ['test/operations/writable.test.ts'], {
    fault: 'does not try to write',
    find: "writeFileSync(trial, 'can be written\\n', { mode: 0o600, flush: true });",
    replace: 'void writeFileSync;',
    caughtBy: 'is refused when it exists and cannot be written',
  }),
  ...inFile(
    'src/programs/reading.ts',
    ['test/hub/health.test.ts', 'test/hub/serviceSettings.test.ts'],
    {
      fault: 'drains for milliseconds instead of seconds',
      find: 'drainMs: delivery.drainSeconds * 1000',
      replace: 'drainMs: delivery.drainSeconds',
      caughtBy: 'A stop waits DELIVERY_DRAIN_SECONDS',
    },
    {
      fault: 'writes checkpoints after milliseconds instead of seconds',
      find: 'everyMs: timing.checkpointSeconds * 1000',
      replace: 'everyMs: timing.checkpointSeconds',
      caughtBy: 'A checkpoint is written five seconds after the last message',
    },
  ),
  ...inFile('src/deadLetters/openDeadLetters.ts', ['test/deadLetters/settings.test.ts'], {
    fault: 'keeps dead letters for hours instead of days',
    find: 'const dayMs = 24 * 60 * 60_000',
    replace: 'const dayMs = 60 * 60_000',
    caughtBy: 'are kept for DEAD_LETTERS_RETENTION_DAYS',
  }),
  ...inFile('src/backends/backends.ts', every, {
    fault: 'takes the address of one backend for another',
    find: "open('typeRegistry', settings.typeRegistryUrl)",
    replace: "open('typeRegistry', settings.informationModelUrl)",
    caughtBy: 'each setting and each constant reaches its part in the part’s unit',
  }),
  ...inFile('src/deadLetters/openDeadLetters.ts', every, {
    fault: 'ignores the account of the dead letters',
    find: "access.account('deadLetters')",
    replace: 'store.connectionString',
    caughtBy: 'each setting and each constant reaches its part in the part’s unit',
  }),
  ...inFile('src/settings/derived.ts', every, {
    fault: 'prefers the shared account to one of its own',
    find: 'isNowhere(own) ? store : own',
    replace: 'isNowhere(store) ? own : store',
    caughtBy: 'each setting and each constant reaches its part in the part’s unit',
  }),
  ...inFile('src/backends/backendOpener.ts', every, {
    fault: 'ignores the number of connections',
    find: '  connections,\n  circuitFailures,',
    replace: '  connections: connections && 128,\n  circuitFailures,',
    caughtBy: 'each setting and each constant reaches its part in the part’s unit',
  }),
  ...inFile('src/settings/groups/storeSettings.ts', every, {
    fault: 'declares a setting that nothing reads',
    find: 'export const store = {',
    replace:
      "export const store = {\n  colour: { doc: 'Red.', format: 'optional-text', default: '', env: 'STORE_COLOUR' },",
    caughtBy: 'each setting of the service has a row',
  }),
  ...inFile(
    'src/programs/reading.ts',
    every,
    {
      fault: 'keeps as many messages of a device in memory as a partition has on disk',
      find: '        deviceMessages,\n',
      replace: '        deviceMessages: spoolLimits.maxMessages,\n',
      caughtBy: 'each setting and each constant reaches its part in the part’s unit',
    },
    {
      fault: 'takes over after milliseconds instead of seconds',
      find: 'balanceLimits(timing.expirySeconds * 1000,',
      replace: 'balanceLimits(timing.expirySeconds,',
      caughtBy: 'each setting and each constant reaches its part in the part’s unit',
    },
  ),
];
