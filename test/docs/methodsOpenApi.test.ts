import { expect, it } from 'vitest';
import { failures } from '../../src/protocol/vocabulary.ts';
import { describedOperations } from '../support/contracts.ts';

it('docs/contracts/methods.openapi.yaml has every status of a failure, under both paths {S23.3}', () => {
  const path = 'objects/{objectId}/models/{model}/methods/{method}';
  const statuses = [...new Set([200, ...Object.values(failures).map(({ status }) => status)])].map(String).sort();
  const operations = describedOperations('methods');
  expect(operations.get(`POST /${path}`)?.sort()).toEqual(statuses);
  expect(operations.get(`POST /v1/${path}`)?.sort()).toEqual(statuses);
});
