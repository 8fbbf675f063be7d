import { expect, it } from 'vitest';
import { changeOf } from '../../scripts/ci/changes.ts';

const card = 'src/messages/type.create.ts';
const reader = 'src/protocol/envelope.ts';
const commit = '0'.repeat(40);

it.each([
  ['a card', ['src/messages/type.create.ts'], [card]],
  ['a test of a card', ['test/messages/type.create.test.ts'], [card]],
  ['what only tests of cards load', ['test/messages/table/messageTable.ts'], [card]],
  ['a page', ['docs/methods.md'], []],
  ['the configuration of the test runner', ['vitest.config.ts'], [card, reader]],
])('a change of %s concerns the faults in %j: %j', (_, names, concerned) => {
  const change = changeOf(commit, names);
  expect([card, reader].filter((file) => change.concerns(file, 'refuses the body'))).toEqual(concerned);
});

it('a change touches the folders and files that its names begin with', () => {
  const change = changeOf(commit, ['src/hub/consumer.ts']);
  expect([
    change.touches('src/'),
    change.touches('edge/', 'src/hub/consumer.ts'),
    change.touches('src/engine/'),
  ]).toEqual([true, true, false]);
});
