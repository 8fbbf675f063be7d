import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import type { BackendContext } from '../http/backend.ts';
import { createAsAdministrator } from '../informationModel/createAsAdministrator.ts';
import { printObject } from '../informationModel/objectModel.ts';
import { checkName, type Principal } from '../principalManager/principals.ts';
import { readObject } from '../requests/body.ts';
import { printMembers } from '../requests/json.ts';
import { conflict, invalid } from '../requests/problem.ts';
import { type Answer, json, single } from '../routes/route.ts';

/** An administrator's call. */
export interface AdminCall {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly text: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const DEFAULT_TENANT = 'acme';

const deviceSchema = z.strictObject({
  deviceId: z.string(),
  tenant: z.string().optional(),
  children: z.array(z.string()).optional(),
});

const applicationSchema = z.strictObject({
  name: z.string().min(1).max(128),
  tenant: z.string().default(DEFAULT_TENANT),
  mayInvoke: z.boolean().default(false),
  lifetimeSeconds: z.int().default(3600),
});

/** Parses an administrator's JSON body; a wrong shape is refused (400) with its place. */
export function parse<T>(schema: z.ZodType<T>, text: string): T {
  readObject(text);
  const result = schema.safeParse(JSON.parse(text));
  if (result.success) return result.data;
  throw invalid(result.error.issues.map(({ path, message }) => `$.${path.join('.')}: ${message}`).join('; '));
}

export const printPrincipal = ({ attributes, ...principal }: Principal): string =>
  `${JSON.stringify(principal).slice(0, -1)},"attributes":${printMembers(attributes)}}`;

/** What an administrator creates before devices and applications do anything. */
export function createProvisions({ world, applications }: BackendContext) {
  const { types, principals } = world;

  function readTenant(query: URLSearchParams): string | undefined {
    const tenant = single(query, 'tenant');
    if (tenant !== undefined && !world.tenants.has(tenant)) throw invalid('the tenant has no device');
    return tenant;
  }

  /** The identity of a path: device id, then the connectivity path. */
  function readOwner(query: URLSearchParams, tenant: string): Principal | undefined {
    const path = single(query, 'owner');
    if (path === undefined) return undefined;
    const [deviceId = '', ...names] = path.split('/');
    let found = principals.device(deviceId);
    for (const name of names) found = found && principals.child(found, name);
    if (found?.tenant !== tenant) throw invalid('the owner must be the path of an identity of the tenant');
    return found;
  }

  return {
    /** Creates what is missing; a device of another tenant is a conflict. */
    bootstrap({ text }: AdminCall): Answer {
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
    },

    createType({ query, text }: AdminCall): Answer {
      const model = single(query, 'model') ?? readObject(text).string('model') ?? 'svc.device';
      return { status: 201, body: types.create(readTenant(query) ?? null, model, text).text };
    },

    createObject({ query, text }: AdminCall): Answer {
      const tenant = readTenant(query) ?? DEFAULT_TENANT;
      return { status: 201, body: printObject(createAsAdministrator(world, tenant, text, readOwner(query, tenant))) };
    },

    issueToken({ text }: AdminCall): Answer {
      const { lifetimeSeconds, ...application } = parse(applicationSchema, text);
      return json(201, { token: applications.issue(application, lifetimeSeconds) });
    },
  };
}
