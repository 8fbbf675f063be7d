import { printable, printableJson } from '@device-messaging/telemetry/text.ts';
import { describe, expect, it } from 'vitest';
import { createLog, withFields } from '../../src/observing/log.ts';

const between = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => String.fromCharCode(first + index));

/** Controls from U+007F on, marks and overrides of direction, separators of lines and paragraphs. */
const steering = [
  ...between(0x7f, 0x9f),
  '\u061c',
  '\u200e',
  '\u200f',
  ...between(0x2028, 0x202e),
  ...between(0x2066, 0x2069),
];

describe('no character that controls a terminal or the direction of writing', () => {
  it('reaches the log unchanged, and none is lost', () => {
    const lines: string[] = [];
    const log = createLog('debug', { write: (line) => void lines.push(line) });
    const device = `a${steering.join('')}\u001b[2Jz`;
    const err = new Error(device, { cause: new Error(device) });
    log.debug({ device, [device]: [device], err }, device);
    withFields(log, { part: device }).warn({}, 'stopping in the middle of a round');
    expect(lines.join('')).toMatch(/^[\n\u0020-\u007e]*$/);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { device, [device]: [device], msg: device, err: { message: device, cause: { message: device } } },
      { part: device },
    ]);
  });

  it('is left in a line for the operator', () => {
    const all = ['\0', '\t', '\n', '\u001b', ...steering];
    for (const character of all) {
      const code = character.charCodeAt(0).toString(16).padStart(4, '0');
      expect(printable(`a${character}b${character}`)).toBe(`a\\u${code}b\\u${code}`);
    }
    expect(printableJson(JSON.stringify({ all: all.join('') }, null, 2))).toMatch(/^[\n\u0020-\u007e]*$/);
  });
});

it('Other text is unchanged', () => {
  const text = 'Zürich 東京 🚰 عربى עברית − “quoted” \u00a0';
  expect([printable(text), printableJson(text)]).toEqual([text, text]);
});
