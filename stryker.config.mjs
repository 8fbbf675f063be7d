/** The folders with the rules. */
export const mutatedFolders = [
  ...['src/protocol', 'src/objectModel', 'src/messages'],
  ...['partition', 'order', 'budget', 'progress', 'spool'].map((folder) => `src/engine/${folder}`),
];

/**
 * `npm run mutation`: changes the rules in many small ways and tells which change no quick test notices.
 * docs/mutation.md has the scores and why each survivor may stay.
 */
export default {
  mutate: mutatedFolders.map((folder) => `${folder}/**/*.ts`),
  testRunner: 'vitest',
  // Finding out which tests are related misses some; which tests reach a change is measured anyway.
  vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
  ignorePatterns: ['dist', '.sandbox', '.data'],
  // There are no references between projects to mend, and TypeScript 7 has no interface for reading them.
  tsconfigFile: 'none.json',
  concurrency: 1,
  // Generous: a busy machine is slow, and endless loops are noticed by counting.
  timeoutMS: 20_000,
  timeoutFactor: 3,
  incremental: true,
  incrementalFile: '.mutation/incremental.json',
  tempDirName: '.mutation/work',
  cleanTempDir: 'always',
  reporters: ['clear-text', 'html', 'json'],
  htmlReporter: { fileName: '.mutation/report.html' },
  jsonReporter: { fileName: '.mutation/report.json' },
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  allowEmpty: false,
};
