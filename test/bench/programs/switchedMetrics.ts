import type { Metrics } from '../../../src/metrics/exposition.ts';
import type { Meter } from '../../../src/metrics/meter.ts';

/** The built service, and its parent says whether it records metrics. */

type Config = typeof import('../../../src/settings/config.ts');
type Meters = typeof import('../../../src/metrics/meter.ts');
type ProcessGauges = typeof import('../../../src/metrics/processGauges.ts');
type Programs = typeof import('../../../src/program.ts');
type Services = typeof import('../../../src/service.ts');

const built = (name: string) => import(new URL(`../../../dist/${name}.js`, import.meta.url).href);
await built('v8Flags');
const { configDirectory, readSettings }: Config = await built('settings/config');
const { createMeter }: Meters = await built('metrics/meter');
const { observeProcess }: ProcessGauges = await built('metrics/processGauges');
const { runProgram }: Programs = await built('program');
const { startService }: Services = await built('service');

const meter = createMeter();
let stopObserving = observeProcess(meter);
let isOn = true;

const switched: Meter = {
  counter(name) {
    const count = meter.counter(name);
    return (...values) => {
      if (isOn) count(...values);
    };
  },
  histogram(name) {
    const record = meter.histogram(name);
    return (value, ...values) => {
      if (isOn) record(value, ...values);
    };
  },
  observe: meter.observe,
};

const metrics: Metrics = {
  meter: switched,
  answer: undefined,
  summary: () => ({}),
  close: async () => stopObserving(),
};

process.on('message', (wanted: { isOn: boolean }) => {
  if (isOn && !wanted.isOn) stopObserving();
  if (!isOn && wanted.isOn) stopObserving = observeProcess(meter);
  isOn = wanted.isOn;
  process.send?.({});
});
process.on('disconnect', () => process.exit());

await runProgram({
  name: 'The service',
  telemetryName: 'device-messaging',
  readSettings: () => readSettings(process.env, configDirectory),
  start: (settings, log, instance, traces) => startService(settings, log, instance, traces, metrics),
});
