import { z } from 'zod';
import { faultSchema } from '../faults.ts';
import type { Surroundings } from '../http/backend.ts';
import { readObject } from '../http/body.ts';
import { conflict, invalid } from '../http/problem.ts';
import { type Answer, json, type Route, single } from '../http/routes.ts';
import { type ObjectModel, printObject } from '../informationModel/objectModel.ts';
import { printReference } from '../informationModel/referenceStore.ts';
import { createUnowned } from '../informationModel/unowned.ts';
import { printMembers } from '../json.ts';
import { checkName, type Principal } from '../principalManager/principals.ts';
import type { TypeVersion } from '../typeRegistry/types.ts';

/** An administrator's call. */
export interface AdminCall {
  readonly query: URLSearchParams;
  readonly text: string;
}

const DEFAULT_TENANT = 'acme';

const deviceSchema = z.strictObject({
  deviceId: z.string(),
  tenant: z.string().optional(),
  children: z.array(z.string()).optional(),
});

const routesHelp = {
  'GET /': 'this page',
  'GET /journal?since=&deviceId=': 'calls that the backends received, in order; since is a sequence number',
  'GET /world/objects': 'object models with their references',
  'GET /world/types': 'type definitions; tenant null: known to all tenants',
  'GET /world/principals': 'identities of all devices',
  'POST /devices':
    '{deviceId, tenant?, children?: [connectivity path]}: a directly connected device and identities below it',
  'POST /types?model=&tenant=': 'a type definition; without tenant all tenants know it',
  'POST /objects?tenant=': 'an object model without owner, for a device to claim',
  'POST /faults':
    '{backend, method?, path?, deviceId?, times?, delayMs?, hang?, status?, headers?, garbage?, reset?, lostAnswer?}',
  'GET /faults': 'faults that still wait for calls',
  'DELETE /faults': 'removes all faults',
  'POST /reset': 'the world as it was at first start; faults are removed, the journal stays',
  'POST /oauth2/token': 'OAuth 2 client credentials; the only route here that faults (backend token) strike',
};

/** Parses an administrator's JSON body; a wrong shape is refused (400) with its place. */
function parse<T>(schema: z.ZodType<T>, text: string): T {
  readObject(text);
  const result = schema.safeParse(JSON.parse(text));
  if (result.success) return result.data;
  throw invalid(result.error.issues.map(({ path, message }) => `$.${path.join('.')}: ${message}`).join('; '));
}

const printPrincipal = ({ attributes, ...principal }: Principal): string =>
  `${JSON.stringify(principal).slice(0, -1)},"attributes":${printMembers(attributes)}}`;

const printType = ({ tenant, text }: TypeVersion): string => `{"tenant":${JSON.stringify(tenant)},${text.slice(1)}`;

/** The routes of the admin port, for people and tools on the same machine. */
export function adminRoutes({ world, faults, journal }: Surroundings): Route<AdminCall>[] {
  const { types, objects, principals } = world;
  const listed = (texts: readonly string[]): Answer => ({ status: 200, body: `{"data":[${texts.join(',')}]}` });
  const isKnown = (name: string) => world.tenants.has(name);

  function readTenant(query: URLSearchParams): string | undefined {
    const tenant = single(query, 'tenant');
    if (tenant !== undefined && !isKnown(tenant)) throw invalid('the tenant has no device');
    return tenant;
  }

  function readJournal({ query }: AdminCall): Answer {
    const since = Number(single(query, 'since') ?? 0);
    if (!Number.isSafeInteger(since)) throw invalid('since must be a sequence number');
    const deviceId = single(query, 'deviceId');
    const data = journal.entries(deviceId === undefined ? { since } : { since, deviceId });
    return json(200, { data, last: journal.last });
  }

  function printWorldObject(object: ObjectModel): string {
    const references = objects.references.out(object).map(printReference);
    return `{"tenant":${JSON.stringify(object.tenant)},${printObject(object).slice(1, -1)},"references":[${references.join(',')}]}`;
  }

  /** Creates what is missing; a device of another tenant is a conflict. */
  function bootstrap({ text }: AdminCall): Answer {
    const { deviceId, tenant, children = [] } = parse(deviceSchema, text);
    for (const name of children.flatMap((path) => path.split('/'))) checkName(name, 'a segment of children');
    const known = principals.device(deviceId);
    if (known && tenant !== undefined && known.tenant !== tenant) {
      throw conflict('Already exists', 'the device belongs to another tenant');
    }
    const root = known ?? principals.createDevice(deviceId, tenant ?? DEFAULT_TENANT);
    const chain = children.map((path) => {
      let parent = root;
      for (const name of path.split('/')) parent = principals.child(parent, name) ?? principals.connect(parent, name);
      return parent;
    });
    return { status: known ? 200 : 201, body: `{"data":[${[root, ...chain].map(printPrincipal).join(',')}]}` };
  }

  function createType({ query, text }: AdminCall): Answer {
    const model = single(query, 'model') ?? readObject(text).string('model') ?? 'svc.device';
    return { status: 201, body: types.create(readTenant(query) ?? null, model, text).text };
  }

  function createObject({ query, text }: AdminCall): Answer {
    return { status: 201, body: printObject(createUnowned(world, readTenant(query) ?? DEFAULT_TENANT, text)) };
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

  return [
    {
      method: 'GET',
      path: '/',
      handle: () => json(200, { what: 'Sandbox backends: administration', routes: routesHelp }),
    },
    { method: 'GET', path: '/journal', handle: readJournal },
    { method: 'GET', path: '/world/objects', handle: () => listed(objects.list().map(printWorldObject)) },
    { method: 'GET', path: '/world/types', handle: () => listed(types.list().map(printType)) },
    { method: 'GET', path: '/world/principals', handle: () => listed(principals.list().map(printPrincipal)) },
    { method: 'POST', path: '/devices', handle: bootstrap },
    { method: 'POST', path: '/types', handle: createType },
    { method: 'POST', path: '/objects', handle: createObject },
    { method: 'POST', path: '/faults', handle: ({ text }) => json(201, faults.add(parse(faultSchema, text))) },
    { method: 'GET', path: '/faults', handle: () => json(200, { data: faults.list() }) },
    { method: 'DELETE', path: '/faults', handle: clearFaults },
    { method: 'POST', path: '/reset', handle: reset },
  ];
}
