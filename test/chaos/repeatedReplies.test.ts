import { describe, expect, it } from 'vitest';
import { repeatedReplies } from './repeatedReplies.ts';
import type { Devicebound } from './stage.ts';

const reply = (time: number, messageId: string, about = 'svc.device'): Devicebound => ({
  ...{ kind: 'c2d', deviceId: 'd-1', policy: 'service', system: { messageId } },
  ...{ properties: { 'svc-messagetype': 'platformEvent', model: about }, body: Buffer.alloc(0), position: time, time },
});
const [first, again] = [reply(60_000, 'a'), reply(90_000, 'a')];
const stage = { replies: [first, again], cuts: [] as number[], interruptions: [], unconfirmed: [] as number[] };
const flaws = (more: Partial<typeof stage>, mayRepeat = false) =>
  repeatedReplies([first, again], { ...stage, ...more }, mayRepeat);

describe('A reply that the hub has taken twice', () => {
  it('is reported when nothing explains it', () => {
    expect(flaws({})).toHaveLength(1);
    expect(flaws({ cuts: [59_000, 91_000] })).toHaveLength(1);
  });
  it('may be a repeat of its message, or of a message whose reader was interrupted', () => {
    expect(flaws({}, true)).toEqual([]);
    const interruptions = [{ at: 70_000, of: '0' }];
    expect(repeatedReplies([first, again], { ...stage, interruptions }, false)).toEqual([]);
  });
  it('may be recorded a little after the interruption of its reader, but not long before', () => {
    const soon = [first, reply(62_000, 'a')];
    const interrupted = (at: number) => ({ ...stage, replies: soon, interruptions: [{ at, of: '0' }] });
    expect(repeatedReplies(soon, interrupted(59_500), false)).toEqual([]);
    expect(repeatedReplies(soon, interrupted(49_500), false)).toHaveLength(1);
    expect(repeatedReplies(soon, interrupted(62_500), false)).toHaveLength(1);
  });
  it('may be unconfirmed when the connection was cut, unless the device got another reply since', () => {
    expect(flaws({ cuts: [70_000] })).toEqual([]);
    expect(flaws({ cuts: [70_000], replies: [first, reply(80_000, 'b'), again] })).toHaveLength(1);
    const other = { ...reply(80_000, 'b'), deviceId: 'd-2' };
    expect(flaws({ cuts: [70_000], replies: [first, other, again] })).toEqual([]);
  });
  it('may have been confirmed too late', () => {
    expect(flaws({ unconfirmed: [70_000] })).toEqual([]);
    expect(flaws({ unconfirmed: [95_000] })).toHaveLength(1);
  });
});

it('Two different replies under one message id are reported', () => {
  const two = [first, reply(61_000, 'a', 'svc.configuration')];
  expect(repeatedReplies(two, { ...stage, replies: two }, true)).toHaveLength(1);
});
