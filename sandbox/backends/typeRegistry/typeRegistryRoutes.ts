import { invalid, notFound } from '../requests/problem.ts';
import type { Answer, Call, Route } from '../routes/route.ts';
import type { Types } from './types.ts';
import { parseSelector, type Selector } from './version.ts';

/** The routes of the type definition registry: a device sees its tenant's types and those known to all tenants. */
export function typeRegistryRoutes({ types }: { readonly types: Types }): Route[] {
  function read({ caller, params }: Call, selector: Selector): Answer {
    const found = types.find(caller.tenant, params['modelId'] ?? '', { typeId: params['typeId'] ?? '', selector });
    if (!found) throw notFound('the type definition');
    return { status: 200, body: found.text };
  }

  function readVersion(call: Call): Answer {
    const selector = parseSelector(call.params['version'] ?? '');
    if (!selector) throw invalid('the version in the path must be a major or a full version');
    return read(call, selector);
  }

  function create({ caller, params, text }: Call): Answer {
    return { status: 201, body: types.create(caller.tenant, params['modelId'] ?? '', text).text };
  }

  return [
    { method: 'POST', path: '/modelDefinitions/{modelId}/types', handle: create },
    { method: 'GET', path: '/modelDefinitions/{modelId}/types/{typeId}', handle: (call) => read(call, 'latest') },
    { method: 'GET', path: '/modelDefinitions/{modelId}/types/{typeId}/versions/{version}', handle: readVersion },
  ];
}
