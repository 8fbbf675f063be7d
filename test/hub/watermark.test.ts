import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWatermark } from '../../src/hub/watermark.ts';

describe('the watermark', () => {
  it('start a1 a2 b1, finish b1: nothing is safe', () => {
    const watermark = createWatermark<string>();
    watermark.begin('a1');
    watermark.begin('a2');
    watermark.begin('b1')();
    expect(watermark.safe()).toBeUndefined();
    expect(watermark.pending()).toBe(2);
  });

  it('start a b c, finish b, a: b is safe; finish c: c is safe', () => {
    const watermark = createWatermark<string>();
    const [a, b, c] = ['a', 'b', 'c'].map((one) => watermark.begin(one)) as [() => void, () => void, () => void];
    b();
    a();
    expect(watermark.safe()).toBe('b');
    c();
    expect(watermark.safe()).toBe('c');
  });

  it('passes what needs no work at once, but not over work that is pending', () => {
    const watermark = createWatermark<string>();
    watermark.pass('t1');
    expect(watermark.safe()).toBe('t1');
    const a = watermark.begin('a');
    watermark.pass('t2');
    watermark.pass('t3');
    expect(watermark.safe()).toBe('t1');
    a();
    expect(watermark.safe()).toBe('t3');
  });

  it('counts work that says twice that it is done once', () => {
    const watermark = createWatermark<string>();
    const a = watermark.begin('a');
    watermark.begin('b');
    a();
    a();
    expect(watermark.pending()).toBe(1);
  });

  it('agrees with a simple model in any order of events', () => {
    const step = fc.oneof(fc.constant('begin' as const), fc.constant('pass' as const), fc.nat());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const watermark = createWatermark<number>();
        const model: { done: boolean; finish?: () => void }[] = [];
        for (const one of steps) {
          if (one === 'begin') model.push({ done: false, finish: watermark.begin(model.length) });
          else if (one === 'pass') model.push({ done: Boolean(watermark.pass(model.length)) || true });
          else {
            const open = model.filter(({ done }) => !done);
            const chosen = open[one % Math.max(open.length, 1)];
            if (chosen) {
              chosen.finish?.();
              chosen.done = true;
            }
          }
          const firstOpen = model.findIndex(({ done }) => !done);
          const safe = (firstOpen < 0 ? model.length : firstOpen) - 1;
          expect(watermark.safe()).toBe(safe < 0 ? undefined : safe);
          expect(watermark.pending()).toBe(model.filter(({ done }) => !done).length);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
