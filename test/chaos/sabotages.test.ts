import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { misfortunes } from './misfortunes.ts';
import { sabotages } from './sabotages.ts';

const project = resolve(import.meta.dirname, '../..');

describe('A sabotage', () => {
  it.each(sabotages)('finds its place: $name', async ({ file, find }) => {
    expect((await readFile(join(project, file), 'utf8')).split(find)).toHaveLength(2);
  });

  it.each(sabotages)('shows in misfortunes that there are: $name', ({ showsIn }) => {
    expect(misfortunes.map(({ name }) => name)).toEqual(expect.arrayContaining([...showsIn]));
  });
});
