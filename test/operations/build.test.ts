import { expect, it } from 'vitest';
import { thisBuild, versionOfBuild } from '../../src/operations/build.ts';

const { version } = thisBuild({});

it('the version for metrics and spans has the commit behind the version', () => {
  expect(versionOfBuild({ BUILD_COMMIT: 'aaa1111' })).toBe(`${version}+aaa1111`);
});

it('the version for metrics and spans is the version alone while no commit is known', () => {
  expect(versionOfBuild({})).toBe(version);
});
