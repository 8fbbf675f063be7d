import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { misfortunes } from './misfortunes.ts';
import { sabotages } from './sabotages.ts';

const project = resolve(import.meta.dirname, '../..');

describe('A sabotage', () => {
  it.each(sabotages)('applies to the source code: $name', async ({ file, find }) => {
    expect((await readFile(join(project, file), 'utf8')).split(find)).toHaveLength(2);
  });

  it.each(sabotages)('is exposed by existing misfortunes: $name', ({ showsIn }) =>
    expect(misfortunes.map(({ name }) => name)).toEqual(expect.arrayContaining([...showsIn])),
  );
});
