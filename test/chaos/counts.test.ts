import { describe, expect, it } from 'vitest';
import { countsIn, countsOf, differencesOf, flawsOfLastLine, processesIn } from './counts.ts';

const lines = [
  { msg: 'starting' },
  { msg: 'handled', message: 'model.create', code: 'ok', replies: 2, repliesMs: 3 },
  {
    ...{ msg: 'handled', message: 'model.create', code: 'ok', replies: 0, dropped: [{ reason: 'queue_full' }] },
    repliesMs: 3,
  },
  { msg: 'handled', message: 'model.query', code: 'operation_not_supported', replies: 0 },
  { msg: 'handled', message: 'type.create', code: 'timeout_exceeded', replies: 1, repliesMs: 1 },
  { msg: 'message could not be parked' },
  { msg: 'handled', message: 'type.create', code: 'timeout_exceeded', replies: 1, repliesMs: 1 },
];
const text = `
# TYPE device_messaging_handled_messages_total counter
device_messaging_handled_messages_total{device_messaging_code="ok",device_messaging_message="model.create",device_messaging_generation="V2"} 2
device_messaging_handled_messages_total{device_messaging_code="operation_not_supported",device_messaging_message="_OTHER",device_messaging_generation="V2"} 1
device_messaging_handled_messages_total{device_messaging_code="timeout_exceeded",device_messaging_message="type.create",device_messaging_generation="V2"} 2
messaging_process_duration_count{device_messaging_message="model.create"} 2
messaging_process_duration_count{device_messaging_message="_OTHER"} 3
device_messaging_wait_duration_count{device_messaging_stage="hub"} 5
device_messaging_wait_duration_count{device_messaging_stage="lane"} 5
device_messaging_dead_letters_total{device_messaging_result="parked"} 1
device_messaging_dead_letters_total{device_messaging_result="not_parked"} 1
device_messaging_replies_total{device_messaging_result="delivered"} 4
device_messaging_replies_total{device_messaging_result="queue_full"} 1
device_messaging_replies_total{device_messaging_result="throttled"} 0
device_messaging_replies_duration_count 4
`;
const summary = {
  msg: 'stopped',
  succeeded: 2,
  failed: 3,
  parked: 1,
  notParked: 1,
  repliesDelivered: 4,
  repliesDropped: 1,
};

describe('What a process counts', () => {
  it('agrees with its log lines', () => {
    expect(differencesOf(countsOf(text), countsIn(lines))).toEqual([]);
    expect(flawsOfLastLine([...lines, summary])).toEqual([]);
  });
  it.each(text.split('\n').filter((one) => /^\w.* [1-9]$/.test(one)))(
    'is a difference when this series differs: %s',
    (series) => {
      const counted = countsOf(text.replace(series, series.replace(/\d+$/, '7')));
      expect(differencesOf(counted, countsIn(lines))).toHaveLength(1);
    },
  );
  it.each(['succeeded', 'failed', 'parked', 'notParked', 'repliesDelivered', 'repliesDropped'])(
    'is a difference when %s of its last line differs',
    (name) => expect(flawsOfLastLine([...lines, { ...summary, [name]: 7 }])).toHaveLength(1),
  );
  it('is counted from its own start', () =>
    expect(processesIn([...lines, ...lines, summary]).map((own) => own.length)).toEqual([7, 8]));
});
