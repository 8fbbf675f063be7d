import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { folderForEach } from '../../iot-hub-emulator/test/support/fixtures.ts';
import { unusableDirectories, usedDirectories } from '../../src/stores/directories.ts';

const directory = folderForEach('writable');
afterEach(() => chmodSync(directory, 0o700));

/** Root may write everywhere: it tries as another user, which a thread cannot, as those for mutations. */
const canLosePrivileges = isMainThread || process.geteuid?.() !== 0;

function withoutPrivileges<T>(act: () => T): T {
  if (process.geteuid?.() !== 0) return act();
  process.seteuid?.(1000);
  try {
    return act();
  } finally {
    process.seteuid?.(0);
  }
}

describe('a folder that the service writes to', () => {
  it('is created with its parents, for its owner alone, and the test of writing leaves no file', () => {
    const folder = join(directory, 'a', 'b');
    expect(unusableDirectories([folder, folder])).toEqual([]);
    expect(['a', 'a/b'].map((name) => statSync(join(directory, name)).mode & 0o777)).toEqual([0o700, 0o700]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it.runIf(canLosePrivileges)('is refused with the user, the owner and the remedy when it cannot be created', () => {
    chmodSync(directory, 0o555);
    const problems = withoutPrivileges(() =>
      unusableDirectories([join(directory, 'data', 'checkpoints'), join(directory, 'data', 'dead-letters')]),
    );
    const user = process.geteuid?.() === 0 ? 1000 : process.geteuid?.();
    expect(problems).toEqual([expect.stringContaining(`${directory} cannot be used by user ${user}, group `)]);
    expect(problems[0]).toContain(`belongs to user ${process.geteuid?.()}, `);
    expect(problems[0]).toContain('permissions 0555; give it to the user');
    expect(problems[0]).toContain('set DATA_DIRECTORY');
  });

  it.runIf(canLosePrivileges)('is refused when it exists and cannot be written', () => {
    const folder = join(directory, 'checkpoints');
    mkdirSync(folder, { mode: 0o555 });
    chmodSync(directory, 0o755);
    expect(withoutPrivileges(() => unusableDirectories([folder]))).toEqual([
      expect.stringContaining(`${folder} cannot be used by user`),
    ]);
  });

  it('is refused when a part of its path is a file', () => {
    const file = join(directory, 'file');
    writeFileSync(file, '');
    for (const path of [file, join(file, 'checkpoints')]) {
      expect(unusableDirectories([path])).toEqual([
        expect.stringMatching(
          / cannot be used \(E(EXIST|NOTDIR)\): a part of its path is a file; set DATA_DIRECTORY to a folder$/,
        ),
      ]);
    }
  });

  it('is refused where no folder can be created', () => {
    symlinkSync(join(directory, 'nowhere'), join(directory, 'link'));
    const sentence = `/link cannot be made (ENOENT): no folder can be made in ${directory}, `;
    expect(unusableDirectories([join(directory, 'link')])).toEqual([expect.stringContaining(sentence)]);
  });

  it('is refused when its disk has too little room, once for each disk', () =>
    expect(
      unusableDirectories(
        ['a', 'b'].map((name) => join(directory, name)),
        2 ** 62,
      ),
    ).toEqual([
      expect.stringMatching(
        /a has [1-9]\d* MB free, and 4398046511104 MB are needed: make room there, or take a larger volume$/,
      ),
    ]));
});

it.each([
  ['file', ['/data/checkpoints', '/data/dead-letters']],
  ['blob', []],
])('of the folders under the data directory STORE=%s uses %j', (kind, expected) => {
  const store = { kind, connectionString: '', connectionStringFile: '', accountUrl: '' };
  expect(usedDirectories({ data: { directory: '/data' }, store })).toEqual(expected);
});
