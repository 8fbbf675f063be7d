import { readFileSync } from 'node:fs';
import { Parser } from '@asyncapi/parser';
import { describe, expect, it } from 'vitest';
import { breachesOfModule, modulesContractFile } from '../support/modulesContract.ts';

const warning = 1;
const id = '1c7c5a0e-6a53-4d8c-9a1e-2f1c0f6a7b10';
const objectId = '6b0e4d7c-5a33-4d8c-9a1e-2f1c0f6a7b10';

describe('docs/contracts/modules.asyncapi.yaml', () => {
  it('is a valid AsyncAPI document for the official parser', async () => {
    const { document, diagnostics } = await new Parser().parse(readFileSync(modulesContractFile, 'utf8'));
    expect(diagnostics.filter(({ severity }) => severity <= warning)).toEqual([]);
    expect(
      document
        ?.channels()
        .all()
        .map((channel) => channel.address()),
    ).toEqual([
      '{topics_methods_in}/{method}/{requestId}',
      '{topics_methods_in}/$proxy/{requestId}',
      '{topics_methods_out}/{status}/{requestId}',
    ]);
  });

  it.each<['in' | 'out', string, string, number]>([
    ['in', `stop/${id}`, '', 0],
    ['in', `stop/${id}`, '{"a":1}', 0],
    ['in', `stop/${id}`, '[]', 1],
    ['in', `$proxy/${id}`, JSON.stringify({ objectId, method: 'a/b' }), 0],
    ['in', `$proxy/${id}`, '', 1],
    ['in', `$proxy/${id}`, JSON.stringify({ objectId, method: 'stop', inputs: {} }), 1],
    ['in', 'stop/1', '', 1],
    ['out', `200/${id}`, '{}', 0],
    ['out', `-1/${id}`, '', 0],
    ['out', `OK/${id}`, 'done', 2],
  ])('%s %s %s has %i breaches', (direction, topic, payload, count) =>
    expect(breachesOfModule(direction, topic, payload)).toHaveLength(count),
  );
});
