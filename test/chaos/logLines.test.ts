import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLogReader } from './logLines.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'log-lines-'));
});
afterAll(() => rm(directory, { recursive: true }));

it('answers each line of a growing log once, a line when it is whole, and none that was cut in two', async () => {
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
