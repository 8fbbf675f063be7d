import { forbidden, invalid, notFound } from '../requests/problem.ts';
import type { Answer, ApplicationCall } from '../routes/route.ts';
import { printObject } from './objectModel.ts';
import type { Stores } from './stores.ts';

/**
 * An application reads an object model of its tenant, also one that it does not own. The header `x-svc-operation` with the value
 * `invoke` says that it does so in order to invoke a method, which takes more than the right to read. M2
 */
export function readForApplication({ objects }: Stores, { application, operation, params }: ApplicationCall): Answer {
  if (operation !== undefined && operation !== 'invoke') throw invalid('x-svc-operation must be invoke, or absent');
  const object = objects.get(application.tenant, params['objectId'] ?? '', params['model'] ?? '');
  if (!object) throw notFound('the object model');
  if (operation === 'invoke' && !application.mayInvoke) {
    throw forbidden('the application may read the object model, but may not invoke its methods');
  }
  return { status: 200, body: printObject(object) };
}
