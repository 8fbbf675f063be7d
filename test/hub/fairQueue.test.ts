import { describe, expect, it } from 'vitest';
import { createFairQueue } from '../../src/hub/replies/sendQueue.ts';

type Turns = ReturnType<typeof createFairQueue<string>>;
const inTurn = (turns: Turns) => Array.from({ length: turns.size() }, () => turns.next());
/** The first letter is the device; an exclamation mark goes first. */
const add = (turns: Turns, ...all: string[]) => {
  for (const one of all) turns.add(one.charAt(0), one, one.endsWith('!'));
};

describe('the fair queue', () => {
  it('takes turns between devices, and keeps the order of each', () => {
    const turns = createFairQueue<string>();
    add(turns, 'a1', 'b1', 'a2', 'a3', 'c1', 'b2');
    expect(inTurn(turns)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(turns.next()).toBeUndefined();
  });

  it('begins each round with failures, and keeps the order of each device', () => {
    const turns = createFairQueue<string>();
    add(turns, 'a1', 'a2!', 'b1', 'c1!', 'd1');
    expect(inTurn(turns)).toEqual(['c1!', 'a1', 'b1', 'd1', 'a2!']);
  });

  it('serves every device, however many failures others have', () => {
    const turns = createFairQueue<string>();
    add(turns, 'a1', ...Array.from({ length: 5 }, (_, index) => `b${index}!`));
    expect(inTurn(turns).indexOf('a1')).toBe(1);
    add(turns, 'a2', 'b5!');
    const seen: (string | undefined)[] = [];
    for (let left = 0; left < 4; left += 1) {
      seen.push(turns.next());
      add(turns, `b${left}!`); // has always more to say
    }
    expect(seen).toContain('a2');
  });

  it('serves a device that comes later in the same round', () => {
    const turns = createFairQueue<string>();
    add(turns, 'a1', 'a2', 'b1');
    expect(turns.next()).toBe('a1');
    add(turns, 'c1');
    expect(inTurn(turns)).toEqual(['b1', 'c1', 'a2']);
  });

  it('skips replies that are no longer sent', () => {
    const turns = createFairQueue<string>();
    add(turns, 'a1', 'a2!', 'b1');
    turns.remove('a', 'a1');
    turns.remove('x', 'nothing');
    turns.remove('b', 'nothing');
    expect([turns.size(), ...inTurn(turns)]).toEqual([2, 'a2!', 'b1']);
    expect(turns.size()).toBe(0);
    add(turns, 'a1', 'a2', 'b1');
    turns.remove('a', 'a2');
    expect(inTurn(turns)).toEqual(['a1', 'b1']);
  });

  it('ranks a device by its present replies, not by removed ones', () => {
    const turns = createFairQueue<string>();
    add(turns, 'a1!', 'a2', 'b1', 'b2!', 'c1!');
    turns.remove('a', 'a1!');
    turns.remove('b', 'b1');
    expect(inTurn(turns)).toEqual(['c1!', 'b2!', 'a2']);
  });

  it('begins a new round when it is empty', () => {
    const turns = createFairQueue<string>();
    add(turns, 'a1');
    expect(turns.next()).toBe('a1');
    add(turns, 'a2', 'b1');
    expect(inTurn(turns)).toEqual(['a2', 'b1']);
  });
});
