import { Axios } from 'axios';
import { describe, expect, it } from 'vitest';
import { TransportFailure } from '../../src/backends/transport.ts';
import { type Script, scriptedBackend } from '../support/scriptedBackend.ts';

function play(script: Script) {
  const { adapter, verify, calls } = scriptedBackend(script);
  const axios = new Axios({ adapter });
  const call = (method: string, url: string, data?: string, headers = {}) =>
    axios.request<Buffer>({ method, url, data, headers }).then(
      ({ status, data }) => [status, data.toString()],
      (error: unknown) => (error instanceof TransportFailure ? error.fault : 'unexpected'),
    );
  return { call, verify, calls };
}

const expected = ['GET', '/a', '1'] as const;

describe('a scripted backend', () => {
  it('accepts concurrent calls in any order, and waits for all of them', async () => {
    const { call, verify } = play([
      {
        together: [
          { call: 'GET /a', reply: [200] },
          { call: 'GET /b', reply: [201] },
        ],
      },
      { call: 'GET /c', reply: [202] },
    ]);
    expect(await call('GET', '/b')).toEqual([201, '']);
    expect(await call('GET', '/c')).toBe('unexpected');
    expect(await call('GET', '/a')).toEqual([200, '']);
    expect(await call('GET', '/c')).toEqual([202, '']);
    expect(verify).toThrow('unexpected: GET /c (expected: GET /a)');
  });

  it.each([
    ['missing', [], 'missing: GET /a'],
    ['of another path', [['GET', '/b']], 'unexpected: GET /b (expected: GET /a)'],
    ['of another method', [['DELETE', '/a']], 'unexpected: DELETE /a (expected: GET /a)'],
    ['one too many', [[...expected], ['GET', '/a']], 'unexpected: GET /a (expected: no further call)'],
    ['of another body', [['GET', '/a', '1.0']], 'different: GET /a has body 1.0, expected 1'],
    ['without its header', [['GET', '/a', '1', 'no']], 'different: GET /a has header x-a (none), expected 1'],
  ])('reports a call that is %s', async (_, made, report) => {
    const { call, verify } = play([{ call: 'GET /a', body: '1', headers: { 'x-a': '1' }, reply: [200] }]);
    for (const [method = '', url = '', body, header] of made)
      await call(method, url, body, header === 'no' ? {} : { 'x-a': '1' });
    expect(verify).toThrow(report);
  });

  it('reports a body that is not the scripted JSON', async () => {
    const { call, verify } = play([{ call: 'PUT /a', body: { a: 1 }, reply: [200] }]);
    await call('PUT', '/a', '{"a":1,"b":2}');
    expect(verify).toThrow('different: PUT /a has body {"a":1,"b":2}, expected {"a":1}');
  });
});
