import { defineConfig } from 'vitest/config';
import { common, fromSources } from '../../vitest.config.ts';

/** `npm run browser-tests`: the web page in a real browser, which not every machine has. */
export default defineConfig({
  ...fromSources,
  test: { ...common, include: ['test/browser/*.browser.ts'], fileParallelism: false, reporters: ['verbose'] },
});
