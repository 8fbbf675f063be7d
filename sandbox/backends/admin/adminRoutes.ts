import type { Unanswered } from 'iot-hub-emulator/http';
import { parseQuery, readJournal, streamJournal } from 'iot-hub-emulator/journal';
import { backendFaultKinds } from '../calls/faultKinds.ts';
import { faultSchema } from '../calls/faults.ts';
import type { BackendContext } from '../http/backend.ts';
import { type ObjectModel, printObject } from '../informationModel/objectModel.ts';
import { printReference } from '../informationModel/referenceStore.ts';
import { invalid, Problem } from '../requests/problem.ts';
import { type Answer, json, type Route, single } from '../routes/route.ts';
import type { TypeVersion } from '../typeRegistry/types.ts';
import { type AdminCall, createProvisions, parse, printPrincipal } from './provisions.ts';

const routesHelp = {
  'GET /': 'this page',
  'GET /journal?since=&deviceId=&correlationId=&kind=':
    'what happened, in order: `http-request` and `http-response` are the calls of the backends; since is a position',
  'GET /journal/stream?since=&deviceId=&correlationId=&kind=': 'the same as it happens, as server-sent events',
  'GET /world/objects': 'object models with their references',
  'GET /world/types': 'type definitions; tenant null: known to all tenants',
  'GET /world/principals': 'identities of all devices',
  'POST /devices':
    '{deviceId, tenant?, children?: [connectivity path]}: a directly connected device and identities below it',
  'POST /types?model=&tenant=': 'a type definition; without tenant all tenants know it',
  'POST /objects?tenant=&owner=':
    'an object model; owner is the path of an identity, and without one the object model waits to be claimed',
  'POST /applications': '{name, tenant?, mayInvoke?, lifetimeSeconds?}: a bearer token for an application',
  'POST /faults?seconds=':
    '{backend, method?, path?, deviceId?, times?, delayMs?, hang?, status?, headers?, garbage?, reset?, lostAnswer?}',
  'GET /faults': 'faults that still wait for calls',
  'GET /faults/kinds': 'what can be asked for: each with a sentence, and as JSON Schema',
  'DELETE /faults/{id}': 'removes a fault',
  'DELETE /faults': 'removes all faults',
  'POST /reset': 'the world as it was at first start; faults are removed, the journal stays',
  'POST /oauth2/token': 'OAuth 2 client credentials; the only route here that faults (backend token) strike',
};

/** How long a fault is there; undefined: until it is removed. */
function readSeconds(query: URLSearchParams): number | undefined {
  const text = single(query, 'seconds');
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= 86_400) return seconds;
  throw invalid('seconds is a whole number from 1 to 86400');
}

const printType = ({ tenant, text }: TypeVersion): string => `{"tenant":${JSON.stringify(tenant)},${text.slice(1)}`;

/** The routes of the admin port, for people and tools on the same machine. */
export function adminRoutes(context: BackendContext): Route<AdminCall, Answer | Unanswered>[] {
  const { world, faults, journal, closing } = context;
  const provisions = createProvisions(context);
  const { types, objects, principals } = world;
  const listed = (texts: readonly string[]): Answer => ({ status: 200, body: `{"data":[${texts.join(',')}]}` });

  function stream({ query, request, response }: AdminCall): Unanswered {
    streamJournal(journal, parseQuery(query, invalid), { request, response, closing });
    return 'written';
  }

  function printWorldObject(object: ObjectModel): string {
    const references = objects.references.out(object).map(printReference);
    return `{"tenant":${JSON.stringify(object.tenant)},${printObject(object).slice(1, -1)},"references":[${references.join(',')}]}`;
  }

  function reset(): Answer {
    world.reset();
    faults.clear();
    return { status: 204 };
  }

  function clearFaults(): Answer {
    faults.clear();
    return { status: 204 };
  }

  function clearFault({ params }: AdminCall): Answer {
    if (faults.clear(params['id']) === 0) throw new Problem(404, 'Not found', 'there is no fault of this id');
    return { status: 204 };
  }

  return [
    {
      method: 'GET',
      path: '/',
      handle: () => json(200, { what: 'Sandbox backends: administration', routes: routesHelp }),
    },
    {
      method: 'GET',
      path: '/journal',
      handle: ({ query }) => json(200, readJournal(journal, parseQuery(query, invalid))),
    },
    { method: 'GET', path: '/journal/stream', handle: stream },
    { method: 'GET', path: '/world/objects', handle: () => listed(objects.list().map(printWorldObject)) },
    { method: 'GET', path: '/world/types', handle: () => listed(types.list().map(printType)) },
    { method: 'GET', path: '/world/principals', handle: () => listed(principals.list().map(printPrincipal)) },
    { method: 'POST', path: '/devices', handle: provisions.bootstrap },
    { method: 'POST', path: '/types', handle: provisions.createType },
    { method: 'POST', path: '/objects', handle: provisions.createObject },
    { method: 'POST', path: '/applications', handle: provisions.issueToken },
    {
      method: 'POST',
      path: '/faults',
      handle: ({ query, text }) => json(201, faults.add(parse(faultSchema, text), readSeconds(query))),
    },
    { method: 'GET', path: '/faults/kinds', handle: () => json(200, { kinds: backendFaultKinds() }) },
    { method: 'DELETE', path: '/faults/{id}', handle: clearFault },
    { method: 'GET', path: '/faults', handle: () => json(200, { data: faults.list() }) },
    { method: 'DELETE', path: '/faults', handle: clearFaults },
    { method: 'POST', path: '/reset', handle: reset },
  ];
}
