import type { AxiosAdapter } from 'axios';
import { vi } from 'vitest';
import { type BoundBackends, createBackends } from '../../../src/backends/backends.ts';
import { createDeadline } from '../../../src/backends/deadline.ts';
import { clientCredentials } from '../../../src/backends/tokens.ts';
import { TransportFailure } from '../../../src/backends/transport.ts';
import type { Meter } from '../../../src/observing/metrics.ts';
import type { TransportFault } from '../../../src/protocol/vocabulary.ts';
import { callOf, settings } from '../../backends/harness.ts';
import { silence, untold } from '../../hub/support/replying.ts';
import { by, type Chapter, times } from '../support/points.ts';

type Outcome = number | TransportFault;

const take = () => {};

function answerTo(path = '') {
  if (path.startsWith('/modelDefinitions')) return { typeId: 't', version: '1.0.0' };
  if (path.startsWith('/devices')) return { data: [{ id: 'p', identity: 'i', path: 'd1' }] };
  return { objectId: 'o', model: 'm', version: 1, data: [] };
}

/** Answers come as they are told, each after so many milliseconds; the others at once, with 200. */
function startBackends(meter: Meter, circuitFailures: number) {
  const coming: (readonly [ms: number, outcome: Outcome])[] = [];
  const adapter: AxiosAdapter = async (config) => {
    const [ms, outcome] = coming.shift() ?? [0, 200];
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    if (typeof outcome === 'string') throw new TransportFailure(outcome, false);
    const data = Buffer.from(JSON.stringify(answerTo(config.url)));
    return { status: outcome, statusText: '', headers: {}, data, config };
  };
  const backends = createBackends({ ...settings, circuitFailures }, silence, { adapter, random: () => 0, meter });
  const bind = () => backends.bind(callOf({ deadline: createDeadline(1e6) }));
  return {
    bind,
    async call(work: (backends: BoundBackends) => Promise<unknown>, ...outcomes: typeof coming) {
      coming.push(...outcomes);
      const called = work(bind()).catch(() => {});
      await vi.advanceTimersByTimeAsync(60_000);
      await called;
    },
  };
}

type Called = ReturnType<typeof startBackends>;

async function askEverything({ call }: Called) {
  await call(({ informationModel }) => informationModel.getModel('o', 'm'), [201, 200]);
  await call(({ informationModel }) => informationModel.createModel('p', '{}'), [202, 201]);
  await call(({ informationModel }) => informationModel.replaceModel('o', 'm', '{}'), [203, 200]);
  await call(({ informationModel }) => informationModel.claim('o', 'm', 'p'), [204, 204]);
  await call(({ informationModel }) => informationModel.references('o', 'm', take), [205, 200]);
  await call(({ informationModel }) => informationModel.addReferences('o', 'm', '[]'), [206, 201]);
  await call(({ informationModel }) => informationModel.query('m', 't', new Map(), take), [207, 200]);
  await call(({ typeRegistry }) => typeRegistry.createType('m', '{}'), [209, 201]);
  await call(({ principalManager }) => principalManager.updateIdentity('p', '{}'), [211, 204]);
  await call(({ principalManager }) => principalManager.deleteIdentity('p', false), [212, 204]);
}

/** All but the last attempt of a call are repeated. */
async function failSometimes({ call }: Called) {
  await call(
    ({ informationModel }) => informationModel.getModel('o', 'm'),
    [221, 'connection refused'],
    [222, 'no connection'],
    [223, 'connection lost'],
    [224, 'no answer in time'],
    [225, 'too many open files'],
    [226, 'answer too large'],
  );
  await call(({ typeRegistry }) => typeRegistry.createType('m', '{}'), [227, 503], [228, 503], [0, 201]);
  await call(({ principalManager }) => principalManager.updateIdentity('p', '{}'), [229, 503], [230, 503], [231, 999]);
}

/** Each refused connection opens the circuit, which a probe closes again. */
async function beOut({ call }: Called) {
  const refused = 'connection refused';
  await times(28, () => call(({ informationModel: of }) => of.getModel('o', 'm'), [1, refused], [4, 200], [0, 200]));
  await times(29, () => call(({ typeRegistry: of }) => of.createType('m', '{}'), [2, refused], [5, 200], [0, 201]));
  await times(30, () =>
    call(({ principalManager }) => principalManager.updateIdentity('p', '{}'), [3, refused], [6, 200], [0, 204]),
  );
}

/** The first look-up is shared by those that ask meanwhile, then known; others are new. */
async function lookUpOften(lookUp: (name: string) => Promise<unknown>, hits: number, misses: number, shared: number) {
  await Promise.all(Array.from({ length: 1 + shared }, () => lookUp('first')));
  await times(hits, () => lookUp('first'));
  for (let name = 1; name < misses; name += 1) await lookUp(String(name));
}

async function lookUp({ bind, call }: Called) {
  const type = (name: string) => bind().typeRegistry.getType('m', name, '1.0.0');
  await call(() => lookUpOften(type, 34, 35, 36), [208, 200]);
  const identity = (name: string) => bind().principalManager.resolve(name);
  await call(() => lookUpOften(identity, 37, 38, 39), [210, 200]);
}

/** Each failure is repeated until there is a token; one is repeated twice. */
async function fetchTokens(meter: Meter) {
  const answers: (readonly [ms: number, status: number])[] = [
    [251, 503],
    [0, 503],
    [252, 200],
  ];
  for (let more = 1; more < 406; more += 1) answers.push([0, 503], [0, 200]);
  const adapter: AxiosAdapter = async (config) => {
    const [ms, status] = answers.shift() ?? [0, 418];
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    const data = Buffer.from(JSON.stringify({ access_token: 't' }));
    return { status, statusText: '', headers: {}, data, config };
  };
  const settings = { tokenUrl: 'http://login.invalid/', clientId: 'id', clientSecret: 's', tokenScope: '' };
  const tokens = clientCredentials(settings, untold, meter, adapter);
  await vi.dynamicImportSettled(); // axios
  while (answers.length > 0) {
    const fetched = tokens.renew('t').catch(() => undefined);
    await vi.advanceTimersByTimeAsync(300);
    await fetched;
  }
  await tokens.close();
}

const request = (backend: string, operation: string, method: string, outcome: Outcome | '_OTHER') =>
  `backend=${backend} operation=${operation} http.request.method=${method} ` +
  (typeof outcome === 'number' || outcome === '_OTHER'
    ? `http.response.status_code=${outcome}`
    : `error.type=${outcome}`);

const model = 'informationModel';
const types = 'typeRegistry';
const principals = 'principalManager';

/** Requests to the backends, and the caches of their answers. */
export const backends: Chapter = {
  async record(meter) {
    const steady = startBackends(meter, 1e9);
    await askEverything(steady);
    await failSometimes(steady);
    await lookUp(steady);
    await beOut(startBackends(meter, 1));
    await fetchTokens(meter);
  },
  points: {
    'http.client.request.duration': {
      [request(model, 'read object model', 'GET', 200)]: 0.201,
      [request(model, 'create object model', 'POST', 201)]: 0.202,
      [request(model, 'replace object model', 'PUT', 200)]: 0.203,
      [request(model, 'claim object model', 'PUT', 204)]: 0.204,
      [request(model, 'read references', 'GET', 200)]: 0.205,
      [request(model, 'create references', 'POST', 201)]: 0.206,
      [request(model, 'look up object model', 'POST', 200)]: 0.207,
      [request(model, 'probe', 'GET', 200)]: 0.112,
      [request(model, 'read object model', 'GET', 'connection refused')]: 0.249,
      [request(model, 'read object model', 'GET', 'no connection')]: 0.222,
      [request(model, 'read object model', 'GET', 'too many open files')]: 0.225,
      [request(model, 'read object model', 'GET', 'connection lost')]: 0.223,
      [request(model, 'read object model', 'GET', 'no answer in time')]: 0.224,
      [request(model, 'read object model', 'GET', 'answer too large')]: 0.226,
      [request(types, 'read type definition', 'GET', 200)]: 0.208,
      [request(types, 'create type definition', 'POST', 201)]: 0.209,
      [request(types, 'create type definition', 'POST', 503)]: 0.455,
      [request(types, 'create type definition', 'POST', 'connection refused')]: 0.058,
      [request(types, 'probe', 'GET', 200)]: 0.145,
      [request(principals, 'resolve identity', 'GET', 200)]: 0.21,
      [request(principals, 'update identity', 'PUT', 204)]: 0.211,
      [request(principals, 'update identity', 'PUT', 503)]: 0.459,
      [request(principals, 'update identity', 'PUT', '_OTHER')]: 0.231,
      [request(principals, 'update identity', 'PUT', 'connection refused')]: 0.09,
      [request(principals, 'delete identity', 'DELETE', 204)]: 0.212,
      [request(principals, 'probe', 'GET', 200)]: 0.18,
      [request('tokenEndpoint', 'fetch token', 'POST', 503)]: 0.251,
      [request('tokenEndpoint', 'fetch token', 'POST', 200)]: 0.252,
    },
    'device_messaging.backend.retries': by('backend', {
      typeRegistry: 31,
      principalManager: 32,
      informationModel: 33,
      tokenEndpoint: 407,
    }),
    'device_messaging.backend.outages': by('backend', {
      informationModel: 28,
      typeRegistry: 29,
      principalManager: 30,
      tokenEndpoint: 406,
    }),
    'device_messaging.cache.lookups': {
      ...by('cache=types result', { hit: 34, miss: 35, shared: 36 }),
      ...by('cache=identities result', { hit: 37, miss: 38, shared: 39 }),
    },
  },
};
