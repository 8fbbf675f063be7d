import { describe, expect, it } from 'vitest';
import { check } from './checker.ts';
import type { History, Sent, Told } from './history.ts';

/** A history of one device in which all is well: it creates an object, updates it twice, and asks for what nobody does. */
const sent: Sent[] = [
  { id: 'a', deviceId: 'd', ack: 'all', intent: { does: 'create', object: 'o' } },
  { id: 'b', deviceId: 'd', ack: 'positive', intent: { does: 'replace', object: 'o', version: 1 } },
  { id: 'c', deviceId: 'd', ack: 'none', intent: { does: 'replace', object: 'o', version: 2 } },
  { id: 'x', deviceId: 'd', ack: 'negative', intent: { does: 'nothing', code: 'operation_not_supported' } },
];

const told = (id: string, code: string): Told => ({
  id,
  deviceId: 'd',
  messageId: `${id}-1`,
  kind: 'acknowledgement',
  code,
  success: code === 'ok',
});

const news: Told = { ...told('a', 'ok'), messageId: 'a-0', kind: 'notification' };
const handled = sent.map(({ id }) => ({
  id,
  code: id === 'x' ? 'operation_not_supported' : 'ok',
  dropped: 0,
  remarks: 0,
}));

const well: History = {
  sent,
  effects: ['a', 'b', 'c'].map((id) => ({ id, key: `key of ${id}` })),
  told: [news, told('a', 'ok'), told('b', 'ok'), told('x', 'operation_not_supported')],
  handled,
  struck: new Set(),
  refused: new Set(),
  parked: new Set(),
  state: new Map([['d', { objects: { o: { version: 3, mark: 'c' } }, anonymous: [], identity: undefined }]]),
  mostRepeats: 0,
};

const found = (change: Partial<History>) => check({ ...well, ...change }).map(({ what, id }) => `${what} ${id}`.trim());
const holding = (version: number, mark: string) =>
  new Map([['d', { objects: { o: { version, mark } }, anonymous: [], identity: undefined }]]);

describe('The checker of histories', () => {
  it('finds nothing where all is well', () => {
    expect(check(well)).toEqual([]);
  });

  it('reports a message without effect and without reply as lost', () => {
    const change = {
      effects: well.effects.slice(0, 2),
      handled: handled.filter(({ id }) => id !== 'c'),
      state: holding(2, 'b'),
    };
    expect(found(change)).toEqual(['lost c']);
  });

  it('reports a message that nobody handled and somebody waits for as lost', () => {
    const change = { told: well.told.filter(({ id }) => id !== 'x'), handled: handled.filter(({ id }) => id !== 'x') };
    expect(found(change)).toEqual(['lost x']);
  });

  it('reports effects in another order than that of the hub as inverted', () => {
    const [a, b, c] = well.effects;
    if (!(a && b && c)) throw new Error('three effects');
    expect(found({ effects: [a, c, b] })).toEqual(['inverted b']);
  });

  it('reports acknowledgements in another order than that of the hub as inverted', () => {
    expect(found({ told: [news, told('b', 'ok'), told('a', 'ok'), told('x', 'operation_not_supported')] })).toEqual([
      'inverted a',
    ]);
  });

  it('does not take the repeat of an effect or a reply for an inversion', () => {
    const again = { effects: [...well.effects, { id: 'a', key: 'key of a' }], told: [...well.told, told('a', 'ok')] };
    expect(found(again)).toEqual([]);
  });

  it('reports a version that one message has bumped twice', () => {
    const twice = { effects: [...well.effects, { id: 'c', key: 'another key' }], state: holding(4, 'c') };
    expect(found(twice)).toEqual(['duplicated c']);
  });

  it('reports an object that the backend holds and no message accounts for', () => {
    const state = new Map([
      ['d', { objects: { o: { version: 3, mark: 'c' } }, anonymous: ['?'], identity: undefined }],
    ]);
    expect(found({ state })).toEqual(['state d']);
  });

  it('reports a state that only another order can have left', () => {
    expect(found({ state: holding(3, 'b') })).toEqual(['state d']);
  });

  it('reports an acknowledgement that is missing, of another code, or not wanted', () => {
    const [, a, b, x] = well.told;
    if (!(a && b && x)) throw new Error('three acknowledgements');
    expect(found({ told: [news, a, x] })).toEqual(['wrong acknowledgement b']);
    expect(found({ told: [news, a, b, told('x', 'not_authorized')] })).toEqual(['wrong acknowledgement x']);
    expect(found({ told: [news, a, b, told('c', 'ok'), x] })).toEqual(['wrong acknowledgement c']);
  });

  it('reports a repeated acknowledgement under another message id', () => {
    const again = { ...told('b', 'ok'), messageId: 'b-2' };
    expect(found({ told: [...well.told, again] })).toEqual(['wrong acknowledgement b']);
  });

  it('accepts a failure through our side only where a fault explains it and the message is parked', () => {
    const failing = {
      told: well.told.map((one) => (one.id === 'a' || one.id === 'x' ? one : told(one.id, 'timeout_exceeded'))),
      handled: handled.map((one) => (one.id === 'b' ? { ...one, code: 'timeout_exceeded' } : one)),
    };
    const unwanted = { ...failing, told: failing.told.filter(({ id }) => id !== 'b') };
    expect(found({ ...unwanted, struck: new Set(['b']), parked: new Set(['b']) })).toEqual([]);
    expect(found({ ...unwanted, struck: new Set(['b']) })).toEqual(['lost b']);
    expect(found({ ...failing, parked: new Set(['b']) })).toContain('wrong acknowledgement b');
  });

  it('accepts that an update makes up for one that failed through our side', () => {
    const caughtUp = {
      effects: [
        { id: 'a', key: '1' },
        { id: 'c', key: '2' },
        { id: 'c', key: '3' },
      ],
      told: [news, told('a', 'ok'), told('x', 'operation_not_supported')],
      handled: handled.map((one) => (one.id === 'b' ? { ...one, code: 'internal_platform_error' } : one)),
      struck: new Set(['b']),
      parked: new Set(['b']),
    };
    expect(found(caughtUp)).toEqual([]);
  });

  it('accepts a dropped reply that was counted and that the hub refused, and no other', () => {
    const dropped = {
      told: well.told.filter(({ id }) => id !== 'b'),
      handled: handled.map((one) => (one.id === 'b' ? { ...one, dropped: 1 } : one)),
    };
    expect(found({ ...dropped, refused: new Set(['b']) })).toEqual([]);
    expect(found(dropped)).toEqual(['wrong acknowledgement b']);
  });

  it('reports a notification that is missing and not counted', () => {
    expect(found({ told: well.told.slice(1) })).toEqual(['uncounted a']);
  });

  it('accepts a notification that was left out because of a fault, and remarked upon', () => {
    const remarked = { told: well.told.slice(1), handled: handled.map((one) => ({ ...one, remarks: 1 })) };
    expect(found({ ...remarked, struck: new Set(['a']) })).toEqual([]);
    expect(found(remarked)).toEqual(['uncounted a']);
  });

  it('holds the number of repeats against the bound', () => {
    const again = { handled: [...handled, ...handled.slice(0, 2)] };
    expect(found({ ...again, mostRepeats: 2 })).toEqual([]);
    expect(found({ ...again, mostRepeats: 1 })).toEqual(['duplicated']);
  });
});
