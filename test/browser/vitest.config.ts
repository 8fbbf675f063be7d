import { defineConfig } from 'vitest/config';
import { common, fromSources } from '../../vitest.config.ts';

/** `npm run browser-tests`: the web page in a real browser, which not every machine has. */
export default defineConfig({
  ...fromSources,
  // A browser on a busy machine is not as certain as what it shows.
  test: { ...common, include: ['test/browser/*.browser.ts'], fileParallelism: false, retry: 1, reporters: ['verbose'] },
});
