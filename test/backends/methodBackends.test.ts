import { expect, it, onTestFinished } from 'vitest';
import { createDeadline } from '../../src/backends/deadline.ts';
import { createMethodBackends } from '../../src/backends/methodBackends.ts';
import { createMeter } from '../../src/metrics/meter.ts';
import { courseOf, readingOf, recordingLog } from '../support/observed.ts';
import { callOf, serve, settings } from './harness.ts';

it('the front door reads objects as the caller and types as itself, and operators see both backends', async () => {
  const seen: string[] = [];
  const serveAs = (name: string, status: number, answer: object) =>
    serve((request, response) => {
      seen.push(`${name}: ${request.url} ${request.headers.authorization}`);
      response.writeHead(status).end(JSON.stringify(answer));
    });
  const informationModelUrl = await serveAs('information model', 403, {});
  const typeRegistryUrl = await serveAs('type registry', 200, { methods: { stop: {} } });
  const ofIdentity = {
    scope: 's',
    getToken: async () => ({ token: 'of-identity', expiresOnTimestamp: Date.now() + 3_600_000 }),
  };
  const backend = (name: string) => (name === 'typeRegistry' ? ofIdentity : undefined);
  const access = { backend, token: () => settings.token, clientSecret: () => '' };
  const meter = createMeter();
  const given = { ...settings, informationModelUrl, typeRegistryUrl };
  const backends = createMethodBackends(given, recordingLog(), ['own-secret'], () => ({}), meter, access);
  onTestFinished(() => backends.close());

  const caller = { token: 'of-caller', isKnown: true, correlationId: 'c', course: courseOf() };
  const refused = await backends.readObject('o1', 'svc.device', { ...caller, deadline: createDeadline(10) });
  expect(refused).toEqual({ kind: 'refused', status: 403 });
  const pump = { typeId: 'pump', version: undefined };
  expect(await backends.lineageOf(callOf(), 'svc.device', pump)).toMatchObject({ unknown: [] });
  expect(seen).toEqual([
    'information model: /objects/o1/models/svc.device Bearer of-caller',
    'type registry: /modelDefinitions/svc.device/types/pump Bearer of-identity',
  ]);
  expect(readingOf(meter, 'http.client.request.duration')).toEqual({
    'informationModel read object model GET 403': 1,
    'typeRegistry read type definition GET 200': 1,
  });
  expect(backends.states()).toMatchObject({
    informationModel: { circuit: 'closed' },
    typeRegistry: { circuit: 'closed', cacheEntries: 1 },
    tokenEndpoint: { circuit: 'closed' },
  });
});
