import { defineConfig } from 'vitest/config';
import { common, fromSources } from '../../vitest.config.ts';

/** Needs another build, which `npm run prove -- versions` makes. */
export default defineConfig({
  ...fromSources,
  test: {
    ...common,
    include: ['test/mixed/*.long.ts'],
    provide: { builds: { earlier: process.env['MIXED_EARLIER'] ?? '', present: process.env['MIXED_PRESENT'] ?? '' } },
  },
});
