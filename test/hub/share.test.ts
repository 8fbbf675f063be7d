import { describe, expect, it } from 'vitest';
import { isAllElsewhere, shareOf } from '../../src/hub/reading/balance.ts';
import type { SessionState } from '../../src/hub/reading/session.ts';
import { claimed } from './support/claims.ts';

/** Ownership records of these partitions. */
const records = (...partitions: string[]) =>
  partitions.map((partition) => ({ ...claimed('me', 1, partition), ...{ etag: 'e', unrenewedMs: 0, wantedMs: 0 } }));

describe('a share', () => {
  it.each<[string, SessionState | undefined, boolean, { opened: boolean; incomplete: boolean }]>([
    ['has no session', undefined, false, { opened: true, incomplete: true }],
    ['has no session, as the hub refuses it', undefined, true, { opened: true, incomplete: false }],
    ['is being opened', 'opening', false, { opened: false, incomplete: true }],
    ['is being opened again after a refusal', 'opening', true, { opened: false, incomplete: false }],
    ['is read', 'reading', false, { opened: false, incomplete: false }],
    ['drains', 'draining', false, { opened: false, incomplete: false }],
    ['is revoked and has not ended', 'revoked', false, { opened: false, incomplete: false }],
  ])('with a partition that %s', (_, state, isRefused, { opened, incomplete }) => {
    const states: Record<string, SessionState | undefined> = { 0: 'reading', 1: state };
    const share = shareOf(
      { renew: records('0', '1'), claim: ['2'] },
      (partition) => states[partition],
      (partition) => isRefused && partition === '1',
    );
    expect(share).toEqual({ owned: ['0', '1', '2'], unopened: new Set(opened ? ['1'] : []), isIncomplete: incomplete });
  });

  it('is complete even if partitions are still to be claimed', () =>
    expect(
      shareOf(
        { renew: [], claim: ['0'] },
        () => undefined,
        () => false,
      ),
    ).toEqual({ owned: ['0'], unopened: new Set(), isIncomplete: false }));
});

it.each<[string, { renew?: string[]; claim?: string[]; recorded: string[] }, boolean]>([
  ['when each has a record and nothing is to be done here', { recorded: ['0', '1'] }, true],
  ['also when there is a record of one that the hub does not have', { recorded: ['0', '1', '7'] }, true],
  ['but not when one has never been read', { recorded: ['0', '7'] }, false],
  ['but not when one is owned here', { renew: ['1'], recorded: ['0', '1'] }, false],
  ['but not when one is claimed here', { claim: ['1'], recorded: ['0', '1'] }, false],
])('other instances read all partitions %s', (_, { renew = [], claim = [], recorded }, expected) =>
  expect(isAllElsewhere({ renew: records(...renew), claim }, ['0', '1'], records(...recorded))).toBe(expected),
);
