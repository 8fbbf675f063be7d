import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Module } from '../../edge/src/configuration/schema.ts';
import { createRouter, type FindRoute } from '../../edge/src/modules/routing.ts';
import { busObject, pressObject } from './support/testProxy.ts';

const other = 'ffffffff-7f2b-4f0e-8d57-3b8f2f6c9e11';

const module = (
  id: string,
  owned: string[] | string,
  gateway?: { objectIds: string[]; targets: string[] },
): Module => ({
  id,
  ...(typeof owned === 'string' ? { objectIds: [], identity: owned } : { objectIds: owned }),
  topics_methods_in: `${id}/in`,
  topics_methods_out: `${id}/out`,
  ...(gateway && { gateway }),
});

function moduleOf(find: FindRoute, objectId: string, target: string): string | undefined {
  const match = find(objectId, target);
  return typeof match === 'object' ? match.module.id : match;
}

describe('an invocation', () => {
  const modules = [
    module('press', [pressObject]),
    module('bus', [], { objectIds: [busObject], targets: ['bus', 'line'] }),
    module('line-2', [], { objectIds: [], targets: ['bus/line-2', 'line/a/b'] }),
    module('camera', 'bus/camera'),
  ];
  const name = (objectId: string, target: string) => {
    const match = createRouter(modules)(objectId, target);
    return typeof match === 'object' ? `${match.module.id}${match.isGateway ? ' as a gateway' : ''}` : match;
  };

  it.each<[string, string, string, string | undefined]>([
    ['goes to the owner of its object', pressObject, '', 'press'],
    ['goes to the owner of its object for any target', pressObject, 'bus/line-2', 'press'],
    ['goes to the owner of its object id in any letter case', pressObject.toUpperCase(), '', 'press'],
    ['goes to the gateway that serves its object', busObject, '', 'bus as a gateway'],
    ['goes to the gateway of its object rather than that of its target', busObject, 'bus/line-2', 'bus as a gateway'],
    ['goes to the gateway of its exact target', other, 'bus', 'bus as a gateway'],
    ['goes to the owner of its identity rather than to the gateway above', other, 'bus/camera', 'camera'],
    ['goes to the owner of its object rather than to that of its identity', pressObject, 'bus/camera', 'press'],
    ['goes to the gateway of its object before its identity', busObject, 'bus/camera', 'bus as a gateway'],
    ['does not go to the owner of an identity above', other, 'bus/camera/lens', 'bus as a gateway'],
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
  ])('%s', (_, objectId, target, expected) => expect(name(objectId, target)).toBe(expected));

  it('goes to the longest matching target, for any targets {S24.4}', () => {
    const segment = fc.constantFrom('a', 'b', 'ab', 'c');
    const path = fc.array(segment, { maxLength: 4 }).map((names) => names.join('/'));
    fc.assert(
      fc.property(fc.uniqueArray(path, { maxLength: 8 }), path, (targets, target) => {
        const modules = targets.map((served, index) => module(String(index), [], { objectIds: [], targets: [served] }));
        const find = createRouter(modules);
        const above = targets.filter((served) => served === '' || served === target || target.startsWith(`${served}/`));
        const best = above.toSorted((a, b) => b.length - a.length)[0];
        expect(moduleOf(find, other, target)).toBe(best === undefined ? undefined : String(targets.indexOf(best)));
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

describe('an identity', () => {
  const modules = [module('camera', 'camera'), module('device', '')];
  const second = '11111111-7f2b-4f0e-8d57-3b8f2f6c9e11';

  it('has the object that is invoked first, in any letter case, and no other one', () => {
    const find = createRouter(modules);
    expect([moduleOf(find, other, 'camera'), moduleOf(find, second, 'camera')]).toEqual(['camera', 'other_object']);
    expect(moduleOf(find, other.toUpperCase(), 'camera')).toBe('camera');
    expect(moduleOf(createRouter(modules), second, 'camera')).toBe('camera'); // the file was read again
  });

  it('has an object of its own', () => {
    const find = createRouter(modules);
    expect([moduleOf(find, other, 'camera'), moduleOf(find, second, '')]).toEqual(['camera', 'device']);
    expect(moduleOf(find, other, '')).toBe('other_object');
  });
});
