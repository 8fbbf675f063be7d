import { defineConfig } from 'vitest/config';
import { common } from '../../vitest.config.ts';

/** Those of partitions that need neither hub nor process. */
const ofPartitions = [
  'blockReader',
  'budget',
  'charges',
  'checkpoints',
  'completionMap',
  'condition',
  'contents',
  'deviceWork',
  'fairness',
  'floodingDevice',
  'followed',
  'hangs',
  'lanes',
  'lifecycle',
  'ownFaults',
  'pace',
  'partition',
  'partitionEnd',
  'quarantine/*',
  'redeliveryHorizon',
  'spool',
  'waiting',
  'waitingModel',
  'watermark',
];

/** For `npm run mutation`: the quick tests of the rules that it changes. */
export default defineConfig({
  test: {
    ...common,
    execArgv: [],
    isolate: false,
    include: ['test/{protocol,objectModel,messages,dispatch}/**/*.test.ts', `test/hub/{${ofPartitions}}.test.ts`],
    // Of traces and their exporter.
    exclude: ['test/dispatch/traces.test.ts'],
  },
});
