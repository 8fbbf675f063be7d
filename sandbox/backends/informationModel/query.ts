import { readNested, readObject } from '../requests/body.ts';
import { scalar } from '../requests/json.ts';
import { invalid } from '../requests/problem.ts';
import type { Answer, Call } from '../routes/route.ts';
import { isReadable } from '../rules/ownership.ts';
import { printObject } from './objectModel.ts';
import type { Stores } from './stores.ts';

/** `POST /query`: object models of a type id, of any version, with these property values; only what the device may see. B2 */
export function query({ objects }: Stores, { caller, text }: Call): Answer {
  const body = readObject(text);
  const model = body.required('model');
  const typeId = body.required('type');
  if (typeId.includes('@')) throw invalid('$.type must be a type id without a version');
  const values = new Map<string, string>();
  for (const [name, raw] of readNested(body.object('properties') ?? '{}', '$.properties').members) {
    const value = scalar(raw);
    if (!value)
      throw invalid(`$.properties.${name.slice(0, 100)} must be a string, number or boolean, plain or wrapped`);
    values.set(name, value.text);
  }
  if (values.size === 0) throw invalid('$.properties must name at least one property');
  const hits = objects.find(caller.tenant, model, typeId, values).filter((object) => isReadable(object, caller));
  return { status: 200, body: `{"data":[${hits.map((object) => printObject(object)).join(',')}]}` };
}
