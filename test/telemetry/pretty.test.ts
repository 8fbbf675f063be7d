import { expect, it } from 'vitest';
import { createLog } from '../../src/observing/log.ts';

function written(hasColours = false): { log: ReturnType<typeof createLog>; text: () => string } {
  const lines: string[] = [];
  const log = createLog(
    'debug',
    { write: (line) => void lines.push(line) },
    { isPretty: true, instance: 'i', ...(hasColours && { hasColours }) },
  );
  return { log, text: () => lines.join('') };
}

it('a pretty line has the time, the level, the text, the event and the fields', () => {
  const { log, text } = written();
  log.warn(
    { partition: '3', noticedBy: 'ownership record', more: { a: 1 } },
    'another instance reads this partition now',
  );
  log.info({ device: 'd1', ms: 3 }, 'handled');
  expect(text().replaceAll(/^[\d:.]{12}/gm, 'TIME')).toBe(
    'TIME WARN  another instance reads this partition now (partition.lost)  partition=3  noticedBy="ownership record"  more={"a":1}\n' +
      'TIME INFO  handled  device=d1  ms=3\n',
  );
});

it('a pretty line has a value without quotes only when it is one word', () => {
  const { log, text } = written();
  log.info(
    { url: 'https://h:1/a@b+c-d.e', word: '', left: ' x', right: 'x ', number: 5, none: null, list: [1] },
    'handled',
  );
  expect(text().slice(12)).toBe(
    ' INFO  handled  url=https://h:1/a@b+c-d.e  word=""  left=" x"  right="x "  number=5  none=null  list=[1]\n',
  );
});

it('a pretty line of an error without a stack has the rest of it below', () => {
  const { log, text } = written();
  log.error({ err: 'just text' }, 'unforeseen failure');
  expect(text().slice(12)).toBe(' ERROR unforeseen failure (message.failed_unforeseen)\n    {"message":"just text"}\n');
});

it('a pretty line has the stack of an error and its causes below', () => {
  const { log, text } = written();
  log.error({ err: new Error('outer', { cause: new Error('inner') }) }, 'unforeseen failure');
  expect(text()).toMatch(/unforeseen failure \(message\.failed_unforeseen\)\n {4}Error: outer\n {4}at .*\n/);
  expect(text()).toMatch(/\n {4}\{.*"cause":\{.*"message":"inner"/);
});

it('a pretty line has colours only for a terminal, and no control character of a device', () => {
  const { log, text } = written();
  const hostile = '\u001b[2J\u202e\r\nfake';
  log.info({ device: hostile, [hostile]: hostile, err: new Error(hostile) }, 'handled');
  expect(text()).toMatch(/^[\n\u0020-\u007e]*$/);
  expect(text().split('\n')[0]).toContain('u001b');
  const coloured = written(true);
  coloured.log.error({}, 'event passed over');
  expect(coloured.text()).toContain('\u001b[31mERROR\u001b[0m event passed over');
});
