import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stamps } from '@device-messaging/telemetry/files.ts';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { type Configuration, readConfiguration, watchConfiguration } from '../../edge/src/configuration/read.ts';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { pressObject } from './support/testProxy.ts';

// The files of a configuration are looked at again and again (M10, D212): when one has changed is in telemetry/watchFiles.test.ts.

const hub = { connectionStringFile: 'hub' };
const module = { id: 'press', objectIds: [pressObject], topics_methods_in: 'a', topics_methods_out: 'b' };
const content = { hub, broker: { url: 'mqtt://h' }, modules: [module] };
const connectionString = 'HostName=h;DeviceId=d;SharedAccessKey=a2V5';
const folder = folderForEach('edge');
let read: Configuration[];
let refused: (readonly string[])[];
const write = (name: string, value: unknown) =>
  writeFile(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value));
beforeEach(async () => {
  [read, refused] = [[], []];
  await write('hub', connectionString);
  await write('edge.json', content);
});

async function watch() {
  const path = join(folder, 'edge.json');
  const stamps: Stamps = new Map();
  await readConfiguration(path, stamps);
  const watching = watchConfiguration(
    { path, stamps, everyMs: 3_600_000 },
    { take: async (all) => void read.push(all), refuse: (problems) => void refused.push(problems) },
  );
  onTestFinished(() => watching.close());
  return watching;
}
const found = () => [read.length, refused.length];

it('files of the configuration with a fault are refused once, and read when they are right again', async () => {
  const { look } = await watch();
  await write('edge.json', { ...content, modules: [] });
  for (let index = 0; index < 4; index += 1) await look();
  expect(refused).toEqual([['line 1: modules: must have at least one module']]);
  await rm(join(folder, 'edge.json'));
  for (let index = 0; index < 3; index += 1) await look();
  expect(refused[1]).toEqual(['the file cannot be read: ENOENT']);
  await write('edge.json', content);
  for (let index = 0; index < 3; index += 1) await look();
  expect(found()).toEqual([1, 2]);
});

it('files of the configuration include those that the file names, also one that was missing', async () => {
  const { look } = await watch();
  await write('hub', connectionString.replace('DeviceId=d', 'DeviceId=e'));
  for (let index = 0; index < 3; index += 1) await look();
  expect(read[0]?.hub.connectionString).toContain('DeviceId=e');
  await rm(join(folder, 'hub'));
  for (let index = 0; index < 3; index += 1) await look();
  expect(refused).toEqual([['line 1: hub.connectionStringFile: hub cannot be read: ENOENT']]);
  await write('hub', connectionString);
  for (let index = 0; index < 3; index += 1) await look();
  expect(found()).toEqual([2, 1]);
});
