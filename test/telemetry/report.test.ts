import { away, createReport, doubt, type Finding, fault } from '@device-messaging/telemetry/check.ts';
import { expect, it, vi } from 'vitest';

function reported(findings: readonly Finding[], options: { isJson?: boolean; isInit?: boolean } = {}) {
  let text = '';
  vi.useFakeTimers({ toFake: ['performance'] });
  const report = createReport({
    ...{ isJson: false, isInit: false },
    cover: (said) => said.replaceAll('a-long-secret-key', '…'),
    write(more) {
      text += more;
    },
    ...options,
  });
  for (const finding of findings) report.add(finding);
  vi.advanceTimersByTime(1_500);
  return { code: report.end(), text };
}

const fine: Finding = { what: 'clock', mark: 'ok', found: 'agrees' };
const doubtful = { what: 'disk', ...doubt('10 MB', 'make room') };
const wrong = { what: 'hub', ...fault('refused', 'compare') };
const gone = { what: 'store', ...away('ECONNREFUSED', 'wait') };

it.each([
  ['all is well', [fine], 0, 0],
  ['there is a warning', [fine, doubtful], 2, 0],
  ['something will not work', [fine, doubtful, wrong], 1, 1],
  ['another machine is out', [fine, gone], 1, 0],
  ['one is out and another is wrong', [gone, wrong], 1, 1],
])('ends with a code of its own when %s, and with another before the start', (_, findings, code, init) => {
  expect(reported(findings).code).toBe(code);
  expect(reported(findings, { isInit: true }).code).toBe(init);
});

it('prints a line for each finding, and their sum', () => {
  const { text } = reported([fine, doubtful, wrong]);
  expect(text).toBe('✓ clock: agrees\n! disk: 10 MB → make room\n✗ hub: refused → compare\n1 ✓  1 !  1 ✗  in 1.5 s\n');
});
it('prints an outage as a warning before the start', () =>
  expect(reported([gone], { isInit: true }).text).toMatch(/^! store: ECONNREFUSED → wait\n/));

it('prints JSON that says the same', () => {
  const { text } = reported([fine, gone], { isJson: true, isInit: true });
  expect(JSON.parse(text)).toEqual({
    ...{ exitCode: 0, seconds: 1.5 },
    findings: [fine, { what: 'store', mark: 'warning', found: 'ECONNREFUSED', todo: 'wait' }],
  });
});

it('covers secrets in what others have said, and control characters', () => {
  const said = fault('said a-long-secret-key\u001b[2J', 'compare a-long-secret-key');
  const { text } = reported([{ what: 'hub', ...said }]);
  expect(text).not.toContain('a-long-secret-key');
  expect(text).toContain('\\u001b[2J');
});
