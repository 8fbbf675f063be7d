import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get } from 'node:https';
import tls from 'node:tls';
import { expect, test } from 'vitest';
import { trustHub } from '../src/clients/trustHub.ts';
import { hubForAll } from './support/sharedHub.ts';

const hub = hubForAll();
const other = hubForAll();

/** How a request ends: with a status, or an error. */
const outcome = async (host: string, options: object = {}, port = hub.ports.https): Promise<unknown> => {
  const request = get({ host, port, path: '/devices?api-version=1', agent: false, ...options });
  try {
    const [response] = await once(request, 'response');
    response.resume();
    return response.statusCode;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return /CERT|VERIFY/.test(code) ? refused : code;
  }
};
const refused = 'an authority that is not believed';

test('a process believes the authority of a hub from then on, until it ends that', async () => {
  const before = tls.createSecureContext;
  expect(await outcome('localhost')).toBe(refused);
  const end = trustHub(hub);
  expect([await outcome('localhost'), await outcome('127.0.0.1')]).toEqual([401, 401]);
  expect(await outcome('localhost', {}, other.ports.https)).toBe(refused);
  {
    using _ = trustHub(other);
    expect([await outcome('localhost', {}, other.ports.https), await outcome('localhost')]).toEqual([401, 401]);
  }
  expect([await outcome('localhost', {}, other.ports.https), await outcome('localhost')]).toEqual([refused, 401]);
  end();
  expect(await outcome('localhost')).toBe(refused);
  expect(tls.createSecureContext).toBe(before);
});

test('a hub is believed only as this machine, and not by a client that names its own authorities', async () => {
  using _ = trustHub(hub);
  const lookup = (_: string, __: object, done: (...found: unknown[]) => void) =>
    done(null, [{ address: '127.0.0.1', family: 4 }]);
  expect(await outcome('example.com', { lookup, checkServerIdentity: () => undefined })).toBe(refused);
  expect(await outcome('localhost', { ca: readFileSync(other.caFile) })).toBe(refused);
});
