import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { createPatience, kindsOfLines } from '../../scripts/image/patience.ts';

const often = { betweenLooksMs: 1, looksInVain: 5 };

describe('the wait for a service', () => {
  it('continues while there is news, and ends after a number of checks without news', async () => {
    let looks = 0;
    const patience = createPatience(async () => {
      looks += 1;
      return String(Math.min(looks, 100));
    }, often);
    if (!patience.signal.aborted) await once(patience.signal, 'abort');
    expect(looks).toBe(105);
    expect(patience.signal.reason).toMatchObject({ message: expect.stringContaining('hangs') });
  });

  it('ends with an error that prevents a check', async () => {
    const patience = createPatience(() => Promise.reject(new Error('no journal')), often);
    if (!patience.signal.aborted) await once(patience.signal, 'abort');
    expect(patience.signal.reason).toMatchObject({ message: 'no journal' });
  });
});

describe('news in a log', () => {
  const directory = folderForAll('patience');
  const file = join(directory, 'service.log');

  const kindsAfter = (...lines: string[]) => {
    writeFileSync(file, lines.join('\n'));
    return kindsOfLines(file);
  };

  it('is a line of a new kind, not a repeated one', async () => {
    const trouble = (time: number) => JSON.stringify({ level: 'error', time, msg: 'trying again' });
    const before = await kindsAfter(trouble(1));
    expect(await kindsAfter(trouble(1), trouble(2))).toBe(before);
    expect(await kindsAfter(trouble(1), JSON.stringify({ msg: 'stopped' }))).not.toBe(before);
  });

  it('is absent before the log exists', async () => {
    expect(await kindsOfLines(join(directory, 'none.log'))).toBe('');
  });
});
