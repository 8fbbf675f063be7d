import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { startForAll } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { check, findings } from '../e2e/check/run.ts';
import { edgeProgram } from './support/process.ts';
import { startTestEdge } from './support/testEdge.ts';

// `--check` of the edge proxy beside one that runs.

const edge = startForAll(() => startTestEdge({ process: {} }));
beforeAll(() => edge.ready());

const inProgram = (args: readonly string[]) => check(args, {}, { program: edgeProgram });
const right = () => ['--config', join(edge.folder, 'edge-proxy.json'), '--check'];

it('finds nothing wrong, and takes neither connection of the running proxy', async () => {
  const since = edge.hub.journal.last;
  const { code, found } = await findings(right(), {}, inProgram);
  const marks = found.map(({ what, mark }) => `${what} ${mark}`);
  expect([code, marks]).toEqual([0, ['configuration ok', 'hub ok', 'broker ok', 'folders ok']]);
  expect(edge.hub.journal.list({ since })).toEqual([]);
  const press = await edge.module('press', (request) => request.reply(200));
  expect((await edge.call()).status).toBe(200);
  await press.close();
  expect(edge.lines.filter(({ level }) => level === 'warn')).toEqual([]);
});

it('options of a check need the check', async () => {
  const { code, text } = await inProgram(['--json']);
  expect([code, text]).toEqual([2, expect.stringContaining('--json and --init need --check')]);
});
