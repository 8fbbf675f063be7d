import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { createLogReader } from './logLines.ts';

const directory = folderForAll('log-lines');

it('each complete line of a growing log is read once, and none is cut in two', async () => {
  const file = join(directory, 'service.log');
  const read = createLogReader(file);
  expect(await read()).toEqual([]);
  await appendFile(file, '{"msg":"é"}\n{"msg":"t');
  expect(await read()).toEqual([{ msg: 'é' }]);
  expect(await read()).toEqual([{ msg: 'é' }]);
  await appendFile(file, 'wo"}\n{"msg":"cut');
  expect(await Promise.all([read(), read()])).toEqual(Array(2).fill([{ msg: 'é' }, { msg: 'two' }]));
  await appendFile(file, '{"msg":"begun again"}\n{"msg":"four"}\n');
  expect(await read()).toEqual([{ msg: 'é' }, { msg: 'two' }, { msg: 'four' }]);
});

it('the times of a program whose clock was set are corrected, in lines before and after the change', async () => {
  const file = join(directory, 'set.log');
  const read = createLogReader(file);
  const at = (msg: string, time: string) => JSON.stringify({ msg, time: `2026-01-01T${time}.000Z` });
  const set = (clockAheadMs: number) => JSON.stringify({ msg: 'clock set', clockAheadMs });
  const lines = [
    ...[set(0), at('one', '12:00:00'), set(600_000), at('before', '12:00:01'), at('two', '12:10:02')],
    ...[set(-60_000), at('before', '12:10:03'), at('three', '11:59:04'), set(0), at('four', '12:00:05')],
  ];
  await appendFile(file, `${lines.join('\n')}\n`);
  const times = (await read()).flatMap(({ time }) => (typeof time === 'string' ? [time.slice(11, 19)] : []));
  expect(times).toEqual(['12:00:00', '12:00:01', '12:00:02', '12:00:03', '12:00:04', '12:00:05']);
});
