import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Module } from '../../edge/src/configuration/moduleSchema.ts';
import { createRouter } from '../../edge/src/modules/routing.ts';

const pressObject = '6b0e4d7c-5a33-4d8c-9a1e-2f1c0f6a7b10';
const busObject = '0f1d8a52-7f2b-4f0e-8d57-3b8f2f6c9e11';
const other = 'ffffffff-7f2b-4f0e-8d57-3b8f2f6c9e11';

const module = (id: string, objectIds: string[], gateway?: { objectIds: string[]; targets: string[] }): Module => ({
  id,
  objectIds,
  topics_methods_in: `${id}/in`,
  topics_methods_out: `${id}/out`,
  ...(gateway && { gateway }),
});

describe('an invocation', () => {
  const find = createRouter([
    module('press', [pressObject]),
    module('bus', [], { objectIds: [busObject], targets: ['bus', 'line'] }),
    module('line-2', [], { objectIds: [], targets: ['bus/line-2', 'line/a/b'] }),
  ]);
  const name = (objectId: string, target: string) => {
    const match = find(objectId, target);
    return match && `${match.module.id}${match.isGateway ? ' as a gateway' : ''}`;
  };

  it.each<[string, string, string, string | undefined]>([
    ['goes to the owner of its object', pressObject, '', 'press'],
    ['goes to the owner of its object for any target', pressObject, 'bus/line-2', 'press'],
    ['goes to the owner of its object id in any letter case', pressObject.toUpperCase(), '', 'press'],
    ['goes to the gateway that serves its object', busObject, '', 'bus as a gateway'],
    ['goes to the gateway of its object rather than that of its target', busObject, 'bus/line-2', 'bus as a gateway'],
    ['goes to the gateway of its exact target', other, 'bus', 'bus as a gateway'],
    ['goes to the gateway of a target above', other, 'bus/drive-1', 'bus as a gateway'],
    ['goes to the longest target', other, 'bus/line-2', 'line-2 as a gateway'],
    ['goes to the longest target above', other, 'bus/line-2/drive-1/x', 'line-2 as a gateway'],
    ['goes to a shorter target when the longer one does not match', other, 'line/a/c', 'bus as a gateway'],
    ['matches no half segment', other, 'bus-2', undefined],
    ['matches whole segments', other, 'bus/line-22', 'bus as a gateway'],
    ['does not match a target in another letter case', other, 'Bus', undefined],
    ['does not match a suffix of the path', other, 'x/bus', undefined],
    ['has no route without a target', other, '', undefined],
    ['does not match with a leading slash', other, '/bus', undefined],
  ])('%s', (_, objectId, target, expected) => {
    expect(name(objectId, target)).toBe(expected);
  });

  it('goes to the gateway of "" without another match', () => {
    const all = createRouter([
      module('rest', [], { objectIds: [], targets: [''] }),
      module('bus', [], { objectIds: [], targets: ['bus'] }),
    ]);
    expect([all(other, '')?.module.id, all(other, 'x/y')?.module.id, all(other, 'bus/y')?.module.id]).toEqual([
      'rest',
      'rest',
      'bus',
    ]);
  });

  it('goes to the longest matching target, for any targets', () => {
    const segment = fc.constantFrom('a', 'b', 'ab', 'c');
    const path = fc.array(segment, { maxLength: 4 }).map((names) => names.join('/'));
    fc.assert(
      fc.property(fc.uniqueArray(path, { maxLength: 8 }), path, (targets, target) => {
        const find = createRouter(
          targets.map((served, index) => module(String(index), [], { objectIds: [], targets: [served] })),
        );
        const above = targets.filter((served) => served === '' || served === target || target.startsWith(`${served}/`));
        const best = above.toSorted((a, b) => b.length - a.length)[0];
        expect(find(other, target)?.module.id).toBe(best === undefined ? undefined : String(targets.indexOf(best)));
      }),
      { numRuns: 2000 },
    );
  });

  it('with a path of a megabyte has a linear cost', () => {
    const began = process.cpuUsage();
    expect(name(other, 'x/'.repeat(500_000))).toBeUndefined();
    expect(process.cpuUsage(began).user).toBeLessThan(1_000_000);
  });
});
