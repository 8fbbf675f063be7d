import { describe, expect, it } from 'vitest';
import { informationModelRoutes } from '../../../sandbox/backends/informationModel/informationModelRoutes.ts';
import { principalManagerRoutes } from '../../../sandbox/backends/principalManager/principalManagerRoutes.ts';
import { typeRegistryRoutes } from '../../../sandbox/backends/typeRegistry/typeRegistryRoutes.ts';
import { describedOperations, type Exchange, validateExchange } from '../../support/contracts.ts';
import { guid, useTestBackends } from './client.ts';

const test = useTestBackends({ keepsWorld: true });

it.each([
  ['informationModel', informationModelRoutes],
  ['typeRegistry', typeRegistryRoutes],
  ['principalManager', principalManagerRoutes],
] as const)('the contract of the %s describes exactly its routes', (backend, routesOf) => {
  const routes = routesOf(test.backends.world).map(({ method, path }) => `${method} ${path}`);
  expect([...describedOperations(backend).keys()].sort()).toEqual(routes.sort());
});

describe('an exchange', () => {
  const type = { model: 'svc.device', type: 'pump@2.0.0', properties: { serial: 'A1' } };
  const object = { objectId: guid(1), ...type, variables: {}, version: 1 };
  const created: Exchange = {
    ...{ backend: 'informationModel', method: 'POST', path: `/object?owner=${guid(2)}` },
    requestHeaders: { 'x-svc-device-id': 'pump-1' },
    requestBody: '{"model":"svc.device","type":"pump","properties":{"serial":"A1","n":1e400}}',
    status: 201,
    responseBody: { ...object, relatedModels: [] },
  };

  it.each<[string, Partial<Exchange>, string]>([
    ['an unknown path', { path: '/things' }, 'POST /things is not described'],
    ['an unknown method', { method: 'PATCH' }, 'PATCH /object is not described'],
    ['an unknown status', { status: 202 }, 'status 202 is not described'],
    ['an unknown query parameter', { path: '/object?a=1' }, 'query a is not described'],
    ['a parameter of the wrong shape', { path: '/object?owner=me' }, 'query owner must match'],
    ['a missing header', { requestHeaders: {} }, 'header x-svc-device-id is missing'],
    ['a missing request body', { requestBody: undefined }, 'request body is missing'],
    ['a request body of the wrong shape', { requestBody: { model: 'm' } }, 'request body must have'],
    ['a wrong answer', { responseBody: { ...object, version: 0, relatedModels: [] } }, 'response body/version'],
    ['a part too few', { responseBody: object }, "response body must have required property 'relatedModels'"],
    ['an owner without its path', { responseBody: { ...object, ownerId: guid(2), relatedModels: [] } }, 'path'],
    ['no answer where one is described', { responseBody: '' }, 'response body must be object'],
    ['an error body of the wrong shape', { status: 409, responseBody: { errors: [] } }, 'response body/errors'],
  ])('with %s is reported', (_, change, fault) => {
    const faults = validateExchange({ ...created, ...change } as Exchange);
    expect(faults.join('\n')).toContain(fault);
  });
  it('with an answer that lacks a required header, or has a wrong one, is reported', () => {
    const refused: Exchange = {
      ...{ backend: 'methods', method: 'POST', status: 429 },
      path: `/objects/${guid(1)}/models/svc.device/methods/stop`,
      responseHeaders: { 'retry-after': 'soon' },
    };
    expect(validateExchange(refused)).toEqual([
      'answer header X-Correlation-Id is missing',
      expect.stringMatching(/^answer header Retry-After must match pattern /),
      'response body must be object',
    ]);
  });
  it('with an undescribed body is reported', () => {
    const claim = { ...created, method: 'PUT', path: `/objects/${guid(1)}/models/svc.device/owner` };
    const requestBody = { ownerId: guid(2) };
    expect(validateExchange({ ...claim, requestBody, status: 204, responseBody: undefined })).toEqual([]);
    const faults = validateExchange({ ...claim, requestBody, status: 204, responseBody: '{}' });
    expect(faults).toEqual(['response body is not described']);
  });
});
