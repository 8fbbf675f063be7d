import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWatermark, type Position, type WorkHandle } from '../../src/engine/watermark.ts';

const at = (sequenceNumber: number): Position => ({ sequenceNumber, offset: `o${sequenceNumber}` });

describe('the watermark', () => {
  it('agrees with a simple model for any order of events', { timeout: 60_000 }, () => {
    const step = fc.oneof(fc.constant('begin' as const), fc.constant('pass' as const), fc.nat());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const watermark = createWatermark();
        const model: { done: boolean; begun?: WorkHandle }[] = [];
        for (const one of steps) {
          if (one === 'begin') model.push({ done: false, begun: watermark.begin(at(model.length)) });
          else if (one === 'pass') {
            watermark.pass(at(model.length));
            model.push({ done: true });
          } else {
            const open = model.filter(({ done }) => !done);
            const chosen = open[one % Math.max(open.length, 1)];
            if (chosen) {
              if (chosen.begun) watermark.end(chosen.begun);
              chosen.done = true;
            }
          }
          const firstOpen = model.findIndex(({ done }) => !done);
          const safe = (firstOpen < 0 ? model.length : firstOpen) - 1;
          expect(watermark.safe()).toEqual(safe < 0 ? undefined : at(safe));
          expect(watermark.pending()).toBe(model.filter(({ done }) => !done).length);
          const above = watermark
            .doneAbove()
            .flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, index) => first + index));
          expect(above).toEqual(model.flatMap(({ done }, index) => (done && index > safe ? [index] : [])));
        }
      }),
      { numRuns: 5000 },
    );
  });
});
