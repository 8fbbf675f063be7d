/** What `npm run mutation` always tells StrykerJS; scripts/mutation chooses files and tests. */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner', './scripts/mutation/reporter.js'],
  // Finding out which tests are related misses some; which tests reach a change is measured anyway.
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  ignorePatterns: ['dist', '.sandbox', '.iot-hub-emulator', '.data'],
  ignoreStatic: true,
  // There are no references between projects to mend, and TypeScript 7 has no interface for reading them.
  tsconfigFile: 'none.json',
  disableTypeChecks: false,
  concurrency: 3,
  // Generous: a busy machine is slow, endless loops are noticed by counting, and a test that hangs fails.
  dryRunTimeoutMinutes: 60,
  timeoutMS: 30_000,
  timeoutFactor: 3,
  tempDirName: '.mutation/work',
  cleanTempDir: 'always',
  reporters: ['channel', 'html'],
  htmlReporter: { fileName: '.mutation/report.html' },
  logLevel: 'warn',
  allowEmpty: false,
};
