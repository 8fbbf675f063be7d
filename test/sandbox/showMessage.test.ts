import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Printer, silent } from '../../sandbox/terminal/print.ts';
import { showMessage, unpack } from '../../sandbox/terminal/showMessage.ts';

function shown(body: string | Buffer, properties: Record<string, string> = {}): string[] {
  const lines: string[] = [];
  const printer: Printer = { ...silent, line: (text = '') => lines.push(text.slice(4)) };
  showMessage(printer, { properties, body: Buffer.from(body) });
  return lines;
}

describe('A message that is shown to a person', () => {
  it('has its body indented, with numbers and the order of keys unchanged', () =>
    expect(shown('{"z":1.0,"a":[9007199254740993,1e400, {"t":"a,{b}: \\"c\\""}],"e":{ },"f":[]}')).toEqual([
      ...['{', '  "z": 1.0,', '  "a": [', '    9007199254740993,', '    1e400,', '    {'],
      ...['      "t": "a,{b}: \\"c\\""', '    }', '  ],', '  "e": {},', '  "f": []', '}'],
    ]));

  it('has its properties in columns', () =>
    expect(shown('1', { ack: 'all', correlationId: 'c1' })).toEqual(['ack            all', 'correlationId  c1', '1']));
  it('cannot move the cursor of a terminal', () =>
    expect(shown('not json \u001b[2J', { id: 'a\r\nb' })).toEqual(['id  a\\r\\nb', 'not json \\u001b[2J']));
  it('cannot move the cursor from within JSON, where some control characters need no escape', () => {
    const [id, , member] = shown('{"a":"\u009b2J\u007f"}', { id: '\u009b' });
    expect([id, member]).toEqual(['id  \\u009b', '  "a": "\\u009b2J\\u007f"']);
  });
  it('is decompressed', () => {
    const body = gzipSync('{"success":true}').toString('base64');
    expect(shown(body, { 'content-encoding': 'gzip' })).toContain('  "success": true');
  });
  it('is shown unchanged when its compression is damaged', () => {
    const damaged = { properties: { 'content-encoding': 'gzip' }, body: Buffer.from('AAAA') };
    expect(unpack(damaged).toString()).toBe('AAAA');
  });
});
