import type { SandboxState } from '../state/state.ts';
import { visible } from '../terminal/showMessage.ts';
import { read } from './call.ts';

/** An object model as the administrator sees it. */
export interface FoundObject {
  tenant: string;
  name?: string;
  objectId: string;
  model: string;
  type: string;
  /** Of its owner: the device, then the connectivity path. */
  path?: string;
}

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The object model with this id, path of its owner, or name. An unknown id is returned alone, so that the front door refuses
 * it. Rejects when there is none, or more than one.
 */
export async function findObject(
  { backends }: SandboxState,
  what: string,
  model: string,
): Promise<Pick<FoundObject, 'objectId'> & Partial<FoundObject>> {
  const { data } = await read<{ data: FoundObject[] }>(`${backends.adminUrl}/world/objects`);
  const all = data.filter((object) => object.model === model);
  if (guid.test(what)) {
    return all.find(({ objectId }) => objectId.toLowerCase() === what.toLowerCase()) ?? { objectId: what };
  }
  const found = all.filter(({ path, name }) => path === what || name === what);
  const [only, ...others] = found;
  if (only && others.length === 0) return only;
  if (only)
    throw new Error(
      `Several object models have the owner, or the name, ${JSON.stringify(what)}; name one by its id:\n${found.map(line).join('\n')}`,
    );
  throw new Error(
    `No object model ${model} has the owner, or the name, ${JSON.stringify(what)}. There are:\n${all.map(line).join('\n')}`,
  );
}

const line = ({ objectId, type, path = '(no owner)', name = '' }: FoundObject): string =>
  `  ${visible(`${objectId}  ${path.padEnd(24)}  ${type.padEnd(18)}  ${name}`)}`.trimEnd();
