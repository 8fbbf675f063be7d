import { createExposition } from '@device-messaging/telemetry/exposition.ts';
import {
  closed,
  counter,
  createMeter,
  gauge,
  histogram,
  open,
  updowncounter,
} from '@device-messaging/telemetry/meter.ts';
import { expect, it } from 'vitest';
import { labelsOf } from '../../src/observing/metrics.ts';

const declared = {
  'parcels.sent': counter('{parcel}', { 'post.system': 'mail' })('Parcels\nthat were sent', '', [
    closed('post.result', 'what became of it', ['delivered', 'lost']),
  ]),
  'parcel.duration': histogram([0.5, 1])('How long it took', '', [closed('error.type', 'why not', ['', 'lost'])]),
  'shelf.weight': gauge('kg')('Weight on the shelf', '', [open('shelf.name', 'which')]),
  'parcels.waiting': updowncounter('{parcel}')('Parcels that wait', ''),
};

it('the attributes of the program are labels that Prometheus takes, whatever an operator calls them', () => {
  const chosen = { '2nd': 'x', a_b: '2', 'a.b': '1', 'x:y': 'z', größe: 'é' };
  const [, , line] = createExposition(createMeter({}), labelsOf(chosen))().split('\n');
  expect(line).toBe('target_info{key_2nd="x",a_b="1;2",x_y="z",gr__e="é"} 1');
});

/** As the text format of Prometheus is specified: https://prometheus.io/docs/instrumenting/exposition_formats/ */
it('the exposition has help, type, labels and numbers of every kind of metric', () => {
  const meter = createMeter(declared);
  const sent = meter.counter('parcels.sent');
  sent('lost');
  sent('lost');
  const took = meter.histogram('parcel.duration');
  for (const seconds of [0.25, 0.5, 0.75, 4]) took(seconds, '');
  took(1, 'lost');
  meter.observe('shelf.weight', () => [
    [1.5, 'top'],
    [0, 'a"quoted"\\back\nline'],
  ]);
  expect(createExposition(meter, { 'service.name': 'post', 'deployment-zone': 'a' })()).toBe(`\
# HELP target_info Target metadata
# TYPE target_info gauge
target_info{service_name="post",deployment_zone="a"} 1
# HELP parcels_sent_total Parcels\\nthat were sent
# TYPE parcels_sent_total counter
parcels_sent_total{post_system="mail",post_result="delivered"} 0
parcels_sent_total{post_system="mail",post_result="lost"} 2
# HELP parcel_duration How long it took
# TYPE parcel_duration histogram
parcel_duration_count 4
parcel_duration_sum 5.5
parcel_duration_bucket{le="0.5"} 2
parcel_duration_bucket{le="1"} 3
parcel_duration_bucket{le="+Inf"} 4
parcel_duration_count{error_type="lost"} 1
parcel_duration_sum{error_type="lost"} 1
parcel_duration_bucket{error_type="lost",le="0.5"} 0
parcel_duration_bucket{error_type="lost",le="1"} 1
parcel_duration_bucket{error_type="lost",le="+Inf"} 1
# HELP shelf_weight Weight on the shelf
# TYPE shelf_weight gauge
shelf_weight{shelf_name="top"} 1.5
shelf_weight{shelf_name="a\\"quoted\\"\\\\back\\nline"} 0
`);
});

it('the exposition leaves out only the metric that cannot be read', () => {
  const meter = createMeter(declared);
  meter.observe('shelf.weight', () => {
    throw new Error('too many open files');
  });
  meter.observe('parcels.waiting', () => [[5]]);
  const written = createExposition(meter, {})();
  expect(written).toContain('# TYPE parcels_waiting gauge\nparcels_waiting 5\n');
  expect(written).not.toContain('shelf_weight');
});
