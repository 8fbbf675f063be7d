import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { balanceLimits, decide } from '../../src/hub/reading/balance.ts';
import type { SeenLease } from '../../src/hub/reading/leases.ts';
import type { Lease } from '../../src/stores/checkpointStore.ts';

const limits = { expiryMs: 30_000, forceMs: 60_000 };
const partitions = ['0', '1', '2', '3'];
const owned = (partition: string, owner: string, more: Partial<Lease> = {}): Lease => ({
  ...{ partition, owner, epoch: 1, wantedBy: '', wantedSince: 0, renewedAt: 100_000, etag: 'e' },
  ...more,
});
/** Each letter owns the next partition; a dash is nobody. */
const ownedBy = (owners: string, more: Readonly<Record<number, Partial<Lease>>> = {}) =>
  Array.from(owners, (owner, index) => owned(`${index}`, owner === '-' ? '' : owner, more[index]));
const seen = (records: readonly Lease[], now: number): SeenLease[] =>
  records.map((one) => ({ ...one, unrenewedMs: now - one.renewedAt, wantedMs: now - one.wantedSince }));
const at = (me: string, records: Lease[], now = 100_000) => decide(me, partitions, seen(records, now), limits);
const names = (records: readonly Lease[]) => records.map(({ partition }) => partition);

it('a forced takeover comes neither before the owner’s expiry nor before its drain limit, for any settings', () => {
  const seconds = fc.integer({ min: 1, max: 100_000 });
  fc.assert(
    fc.property(seconds, seconds, fc.nat(), (expiry, drain, waited) => {
      const own = balanceLimits(expiry * 1000, drain * 1000);
      const now = 1e9 + waited;
      const record = owned('0', 'b', { wantedBy: 'a', wantedSince: 1e9, renewedAt: now });
      const others = ['1', '2', '3'].map((one) => owned(one, 'b', { renewedAt: now }));
      const { claim } = decide('a', partitions, seen([record, ...others], now), own);
      if (waited < expiry * 1000 || waited < drain * 1000) expect(claim).toEqual([]);
      expect(own.forceMs).toBeGreaterThanOrEqual((drain + expiry) * 1000);
    }),
  );
});

describe('sharing partitions', () => {
  it('a single instance claims everything at once', () => expect(at('a', []).claim.toSorted()).toEqual(partitions));

  it('a new instance takes nothing, and requests one partition, then as many as it has, up to its share', () => {
    const eight = ['0', '1', '2', '3', '4', '5', '6', '7'];
    const having = (count: number) =>
      decide('b', eight, seen(ownedBy('b'.repeat(count).padEnd(8, 'a')), 100_000), limits);
    expect(having(0).claim).toEqual([]);
    expect([0, 1, 2, 3, 4].map((count) => having(count).ask.length)).toEqual([1, 1, 2, 1, 0]);
  });

  it('instances that decide at the same time request different partitions', () => {
    const many = Array.from({ length: 32 }, (_, index) => String(index));
    const records = seen(ownedBy('a'.repeat(32)), 100_000);
    const asked = Array.from({ length: 31 }, (_, index) => decide(`i${index}`, many, records, limits).ask);
    expect(new Set(asked.map(([one]) => one?.partition)).size).toBeGreaterThan(12);
  });

  it('a request for more than the share of an instance is withdrawn when others have come (D412)', () => {
    const byB = { wantedBy: 'b', wantedSince: 99_000 };
    const [byD, ofC, ofB] = [owned('1', 'a', { wantedBy: 'd', wantedSince: 99_000 }), owned('2', 'c'), owned('3', 'b')];
    const withdrawn = (first: Lease, ...others: Lease[]) => names(at('b', [first, ...others]).withdraw);
    expect(withdrawn(owned('0', 'a', byB), byD, ofC, ofB)).toEqual(['0']);
    expect(withdrawn(owned('0', '', byB), byD, ofC, ofB)).toEqual(['0']);
    expect(withdrawn(owned('0', 'a', byB), owned('1', 'a'), owned('2', 'a'), owned('3', 'a'))).toEqual([]);
    expect(withdrawn(owned('0', '', byB), owned('1', 'a'), ofC, owned('3', 'a'))).toEqual([]);
  });

  it('an owner releases requested partitions, and does not claim them back', () => {
    const records = ownedBy('aaaa', { 2: { wantedBy: 'b', wantedSince: 99_000 } });
    expect(names(at('a', records).release)).toEqual(['2']);
    expect([at('a', ownedBy('aa-b')).claim, at('b', ownedBy('aa-b')).claim]).toEqual([[], ['2']]);
  });

  it('partitions released for a new instance are left to it for the expiry time of an owner', () => {
    const promised = owned('1', '', { wantedBy: 'b', wantedSince: 99_000 });
    const claimed = (me: string, now: number) =>
      decide(me, ['0', '1'], seen([owned('0', 'a', { renewedAt: now }), promised], now), limits).claim;
    expect([claimed('a', 100_000), claimed('b', 100_000), claimed('a', 130_000)]).toEqual([[], ['1'], ['1']]);
  });

  it('an expired request does not prevent requests of others', () => {
    const old = { wantedBy: 'ended', wantedSince: -20_000 };
    expect(at('b', ownedBy('aaab', { 0: old, 1: old, 2: old })).ask).toHaveLength(1);
  });
  it('partitions of a dead instance are taken over', () => {
    const dead = { renewedAt: 60_000 };
    expect(at('a', ownedBy('aadd', { 2: dead, 3: dead })).claim).toEqual(['2', '3']);
  });

  it('an owner that renews late keeps its partition, unless another has taken it over', () => {
    const records = [owned('0', 'a', { renewedAt: 0 }), owned('1', 'b')];
    const decision = at('a', records);
    expect(names(decision.renew)).toEqual(['0']);
    expect(decision.claim).not.toContain('0');
  });

  it('an owner expires only after the time in which it could have renewed', () => {
    const claimed = (ageMs: number) => at('a', ownedBy('aabb'), 100_000 + ageMs).claim;
    expect(claimed(29_999)).toEqual([]);
    expect(claimed(30_000)).toEqual(['2', '3']);
  });

  it('a partition is taken by force only after a limit', () => {
    const asked = (wantedSince: number) => ownedBy('aaba', { 0: { wantedBy: 'b', wantedSince } });
    expect(at('b', asked(50_000)).claim).toEqual([]);
    expect(at('b', asked(39_000)).claim).toEqual(['0']);
  });

  it('no instance requests a partition if that only moved the imbalance', () => {
    const five = ['0', '1', '2', '3', '4'];
    expect(decide('b', five, seen(ownedBy('aaabb'), 100_000), limits).ask).toEqual([]);
  });

  it('ownership becomes even while instances come and go, and a partition never has two owners', () => {
    const step = fc.record({ who: fc.nat(3), joins: fc.boolean() });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(step, { minLength: 1, maxLength: 6 }), (count, steps) => {
        const ids = Array.from({ length: count }, (_, index) => String(index));
        const records = new Map<string, Lease>();
        const alive = new Set<string>();
        let now = 1_000_000;
        const round = () => {
          now += 5_000;
          for (const me of alive) {
            const decision = decide(me, ids, seen([...records.values()], now), limits);
            for (const one of decision.renew) records.set(one.partition, { ...one, renewedAt: now });
            for (const one of decision.release) records.set(one.partition, { ...one, owner: '', renewedAt: now });
            for (const partition of decision.claim) records.set(partition, owned(partition, me, { renewedAt: now }));
            for (const one of decision.withdraw) records.set(one.partition, { ...one, wantedBy: '' });
            for (const one of decision.ask) {
              const current = records.get(one.partition);
              if (current) records.set(one.partition, { ...current, wantedBy: me, wantedSince: now });
            }
          }
        };
        for (const { who, joins } of steps) {
          if (joins) alive.add(`i${who}`);
          else alive.delete(`i${who}`);
          for (let index = 0; index < 60; index += 1) round();
          const shares = [...alive].map((me) => [...records.values()].filter(({ owner }) => owner === me).length);
          if (alive.size > 0) {
            expect(shares.reduce((sum, one) => sum + one, 0)).toBe(count);
            expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
