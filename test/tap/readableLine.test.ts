import { expect, it } from 'vitest';
import { readableLine } from '../../src/operations/tapRoute.ts';

const event = {
  time: '2026-01-02T03:04:05.678Z',
  stage: 'attempt',
  device: 'pump-1',
  partition: '0',
  sequenceNumber: 4711,
  backend: 'information model',
  status: 200,
  ms: 34,
  path: '/objects/1/models/svc.device',
  response: '{"a":1}',
};

it('A line of the tap for people has the time, the position, the stage and the fields; a body stands below', () =>
  expect(readableLine(JSON.stringify(event), false)).toBe(
    '03:04:05.678  0/4711      attempt      backend="information model"  status=200  ms=34  path=/objects/1/models/svc.device\n' +
      '    response: {"a":1}\n',
  ));

it('A line about an invocation has its correlation id', () => {
  const { partition: _, sequenceNumber: __, ...invocation } = { ...event, stage: 'sent', correlationId: 'shift-7' };
  expect(readableLine(JSON.stringify(invocation), false)).toMatch(/^03:04:05\.678 {2}shift-7 {5}sent {9}backend=/);
});
it('A line of the tap has its stage in colour at a terminal', () =>
  expect(readableLine(JSON.stringify(event), true)).toContain('\u001b[34mattempt    \u001b[0m'));

it('A line of the tap cannot control the terminal', () => {
  const line = readableLine(JSON.stringify({ ...event, path: '\u001b[2J', response: '"\u202e"' }), false);
  for (const character of ['\u001b', '\u202e']) expect(line).not.toContain(character);
  expect(line).toContain('\\u001b[2J');
});
