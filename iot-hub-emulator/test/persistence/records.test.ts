import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openRecords } from '../../src/persistence/records.ts';
import { openTable } from '../../src/persistence/table.ts';
import { folderForEach } from '../support/fixtures.ts';

const path = join(folderForEach('records'), 'file.log');

const text = (size: number) => 'x'.repeat(size);
const write = (...payloads: string[]) => {
  const file = openRecords(path, () => undefined);
  for (const payload of payloads) file.append(Buffer.from(payload));
  file.close();
};
const read = (): string[] => {
  const found: string[] = [];
  openRecords(path, (payload) => found.push(payload.toString())).close();
  return found;
};

describe('a file of records', () => {
  test('returns the appended payloads, also empty and large ones', () => {
    const payloads = ['a', '', text(70_000), text(9_000_000), 'z'];
    write(...payloads);
    expect(read()).toEqual(payloads);
    write('later');
    expect(read()).toEqual([...payloads, 'later']);
  });
  test('joins the parts of a record', () => {
    const file = openRecords(path, () => undefined);
    file.append(Buffer.from('ab'), Buffer.from('c'));
    file.close();
    expect(read()).toEqual(['abc']);
  });
  test.each([1, 5, 8, 10])('loses only the last record when that is torn by %i bytes', (torn) => {
    write('first', 'second');
    truncateSync(path, readFileSync(path).length - torn);
    expect(read()).toEqual(['first']);
    write('third');
    expect(read()).toEqual(['first', 'third']);
  });
  test('ends before a record that is damaged', () => {
    write('first', 'second', 'third');
    const bytes = readFileSync(path);
    bytes[bytes.indexOf('second')] = 0;
    writeFileSync(path, bytes);
    expect(read()).toEqual(['first']);
  });
  test('ends before an impossible length', () => {
    write('first');
    writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(100, 0xff)]));
    expect(read()).toEqual(['first']);
  });
  test('replaces its content in one step, and appends to the new one', () => {
    const file = openRecords(path, () => undefined);
    file.append(Buffer.from('old'));
    file.replace([[Buffer.from('new')], [Buffer.from('er')]]);
    file.append(Buffer.from('later'));
    file.close();
    expect(read()).toEqual(['new', 'er', 'later']);
  });
  test('that is closed takes no more, and no other file gets it', () => {
    const file = openRecords(path, () => undefined);
    file.close();
    const other = openRecords(`${path}.other`, () => undefined); // it has the number of the first
    expect(() => file.append(Buffer.from('late'))).toThrow();
    other.close();
    expect(readFileSync(`${path}.other`).length).toBe(0);
  });
  test('that cannot be replaced stays as it is, and leaves neither a draft nor an open file', () => {
    function* failing() {
      yield [Buffer.from('new')];
      throw new Error('disk full');
    }
    const file = openRecords(path, () => undefined);
    file.append(Buffer.from('old'));
    const opened = readdirSync('/proc/self/fd').length;
    expect(() => file.replace(failing())).toThrow('disk full');
    expect([readdirSync('/proc/self/fd').length, existsSync(`${path}.new`)]).toEqual([opened, false]);
    file.append(Buffer.from('later'));
    file.close();
    expect(read()).toEqual(['old', 'later']);
  });
});

describe('a table', () => {
  test('returns the last value of each key', () => {
    const table = openTable<number>(path);
    table.put('a', 1);
    table.put('b', 2);
    table.put('a', 3);
    table.put('c', 4);
    table.delete('b');
    table.delete('never there');
    table.close();
    const again = openTable<number>(path);
    expect(again.entries()).toEqual([
      ['a', 3],
      ['c', 4],
    ]);
    again.close();
  });
  test('is compacted when most of it is out of date', () => {
    const table = openTable<string>(path);
    for (let i = 0; i < 3000; i++) table.put('a', text(100));
    table.put('b', '');
    table.close();
    expect(readFileSync(path).length).toBeLessThan(70_000);
    expect(openTable<string>(path).entries()).toEqual([
      ['a', text(100)],
      ['b', ''],
    ]);
  });
});
