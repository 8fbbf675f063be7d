import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { judged } from '../../src/operations/checkClock.ts';
import { checkMethodsLimits, checkServiceLimits, machineLimits } from '../../src/operations/checkMachine.ts';
import { memoryNeeded, methodsMemory, serviceMemory } from '../../src/operations/memoryNeeded.ts';
import { settings } from '../support/environment.ts';

const mebibyte = 1024 * 1024;
const plenty = { memory: 1024 * mebibyte, files: 20_000 };
const marks = (findings: readonly { readonly mark: string }[]) => findings.map(({ mark }) => mark);

it('the machine of the first deployment suffices for the defaults', () => {
  expect(marks(checkServiceLimits(settings, plenty))).toEqual(['ok', 'ok']);
  expect(marks(checkMethodsLimits(settings, plenty))).toEqual(['ok', 'ok']);
});

it.each([
  ['too little memory', { ...plenty, memory: 256 * mebibyte }, ['warning', 'ok']],
  ['too few files', { ...plenty, files: 256 }, ['ok', 'warning']],
  ['an operating system that does not say', { ...plenty, files: undefined }, ['ok', 'ok']],
])('%s is told', (_, machine, expected) => {
  expect(marks(checkServiceLimits(settings, machine))).toEqual(expected);
  expect(marks(checkMethodsLimits(settings, machine))).toEqual(expected);
});

it.each([
  ['base', serviceMemory],
  ['overlays/front-door', methodsMemory],
] as const)('the limits of the containers of deploy/kubernetes/%s suffice for the defaults', (folder, parts) => {
  const manifest = readFileSync(`deploy/kubernetes/${folder}/deployment.yaml`, 'utf8');
  const limits = [...manifest.matchAll(/limits: \{ memory: (\d+)(Mi|Gi) \}/g)];
  expect(limits.length).toBe(2);
  for (const [, size, unit] of limits) {
    const memory = Number(size) * (unit === 'Gi' ? 1024 : 1) * mebibyte;
    expect(memory).toBeGreaterThan(memoryNeeded<typeof settings>(parts, settings));
  }
});

it('what the process may hold is told as a sum', () => {
  const needed = memoryNeeded(serviceMemory, settings) / mebibyte;
  expect(checkServiceLimits(settings, plenty)[0]?.found).toBe(
    `1024 MB, of which it may come to need ${Math.ceil(needed)} MB`,
  );
  const more = { ...settings, backends: { ...settings.backends, connections: 2 * settings.backends.connections } };
  expect(memoryNeeded(serviceMemory, more) / mebibyte).toBe(needed + 48);
});

it('more bodies in flight need more memory', () => {
  const delivery = { ...settings.delivery, maxBytes: 1024 * mebibyte };
  expect(marks(checkServiceLimits({ ...settings, delivery }, plenty))).toEqual(['warning', 'ok']);
});
it('this machine has limits', () => {
  const { memory, files = 1 } = machineLimits();
  expect([memory > mebibyte, files > 0]).toEqual([true, true]);
});

const hub = (aheadMs: number) => ({ name: 'hub', aheadMs });
const store = (aheadMs: number) => ({ name: 'store', aheadMs });

it.each([
  ['clocks that agree', [hub(800), store(-900)], [['ok', /hub, store/]]],
  ['this clock ahead of all', [hub(-20_000), store(-21_000)], [['warning', /20 s ahead of all 2/]]],
  ['this clock far behind', [hub(600_000), store(601_000)], [['failure', /600 s behind all 2/]]],
  ['this clock far ahead', [hub(-600_000), store(-601_000)], [['failure', /600 s ahead of all 2/]]],
  ['one of the others astray', [hub(100), store(90_000)], [['warning', /the store is 90 s ahead/]]],
] as const)('%s are judged by the nearest', (_, readings, expected) => {
  const found = judged(readings);
  expect(marks(found)).toEqual(expected.map(([mark]) => mark));
  for (const [index, [, says]] of expected.entries()) expect(found[index]?.found).toMatch(says);
});
