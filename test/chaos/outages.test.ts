import { expect, it } from 'vitest';
import { caughtInOutages } from './outages.ts';

const at = (second: number) => new Date(second * 1000).toISOString();
const out = (second: number, backend: string) => ({
  time: at(second),
  backend,
  msg: 'backend is out, calls to it wait',
});
const back = (second: number, backend: string) => ({ time: at(second), backend, msg: 'backend is back' });
const handled = (second: number, id: string, seconds: number, code = 'timeout_exceeded') => ({
  time: at(second),
  correlationId: id,
  code,
  ms: seconds * 1000,
  msg: 'handled',
});

it('A time-out is explained only by an outage during the message', () => {
  const lines = [
    handled(9, 'too early', 5),
    out(10, 'type registry'),
    handled(12, 'in the middle', 5),
    handled(13, 'something else', 5, 'internal_platform_error'),
    back(15, 'type registry'),
    handled(16, 'caught at its end', 5),
    handled(25, 'too late', 5),
    out(30, 'information model'),
    handled(40, 'never back', 5),
  ];
  expect(caughtInOutages(lines)).toEqual(['in the middle', 'caught at its end', 'never back']);
});
