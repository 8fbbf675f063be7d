import { observeProcess } from '@device-messaging/telemetry/process.ts';
import type { Metrics } from '../../../src/observing/metrics.ts';
import { createMeter, type Meter } from '../../../src/observing/metrics.ts';
import { runProgram } from '../../../src/programs/program.ts';
import { startService } from '../../../src/programs/service.ts';
import { readSettings } from '../../../src/settings/config.ts';

/** The service, and its parent says whether it records metrics. */

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

const metrics: Metrics = { meter: switched, text: undefined, summary: () => ({}), close: async () => stopObserving() };

process.on('message', (wanted: { isOn: boolean }) => {
  if (isOn && !wanted.isOn) stopObserving();
  if (!isOn && wanted.isOn) stopObserving = observeProcess(meter);
  isOn = wanted.isOn;
  process.send?.({});
});
process.on('disconnect', () => process.exit());

await runProgram({
  name: 'The service',
  usage: '',
  telemetryName: 'device-messaging',
  readSettings,
  start: (settings, log, instance, traces) => startService(settings, log, instance, traces, metrics),
});
