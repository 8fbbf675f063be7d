import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Stamps } from '@device-messaging/telemetry/files.ts';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Configuration, readConfiguration, watchConfiguration } from '../../edge/src/configuration/read.ts';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';

// The files of a configuration are looked at again and again (M10, D212).

const pressObject = '6b0e4d7c-5a33-4d8c-9a1e-2f1c0f6a7b10';

describe('the files of the configuration', () => {
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

  async function watch(name = 'edge.json') {
    const path = join(folder, name);
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

  it('are read again when they have changed and were the same at two looks', async () => {
    const { look } = await watch();
    await look();
    await look();
    expect(found()).toEqual([0, 0]);
    await write('edge.json', { ...content, limits: { drainSeconds: 1 } });
    await look();
    await write('edge.json', { ...content, limits: { drainSeconds: 22 } });
    await look();
    expect(found()).toEqual([0, 0]);
    await look();
    await look();
    await look();
    expect([found(), read[0]?.limits.drainSeconds]).toEqual([[1, 0], 22]);
  });

  it('are left alone while one is being written', async () => {
    const { look } = await watch();
    await write('edge.json', '{ "hub"');
    await look();
    await write('edge.json', { ...content, limits: {} });
    await look();
    await look();
    expect(found()).toEqual([1, 0]);
  });

  it('are read when a file is touched and its content is the same', async () => {
    const { look } = await watch();
    await write('edge.json', content);
    await look();
    await look();
    expect(found()).toEqual([1, 0]);
  });

  it('with a fault are refused once, and read when they are right again', async () => {
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

  it('include those that the file names, also one that was missing', async () => {
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

  it('may be behind links that are replaced above them, as those of a mounted config map', async () => {
    for (const [name, drainSeconds] of Object.entries({ one: 1, two: 2 })) {
      await mkdir(join(folder, name));
      await write(`${name}/edge.json`, { ...content, hub: { connectionString }, limits: { drainSeconds } });
    }
    await symlink('one', join(folder, 'data'));
    await symlink('data/edge.json', join(folder, 'linked.json'));
    const { look } = await watch('linked.json');
    await symlink('two', join(folder, 'next'));
    await rename(join(folder, 'next'), join(folder, 'data'));
    await look();
    await look();
    expect(read.map(({ limits }) => limits.drainSeconds)).toEqual([2]);
  });
});
