import type { BoundBackends } from '../backends/backends.ts';
import type { Reference } from '../backends/informationModel.ts';
import { type Json, valueIn } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';

/** What `Svc.Device.SyncModel` fetches, starting with one model. */
export interface Collection {
  readonly objectId: string;
  readonly model: string;
  /** Follow every reference. */
  readonly hierarchical: boolean;
  /** Follow the references whose attributes mark the child as contained. */
  readonly contained: boolean;
  /** Follow the references of these names. */
  readonly references: ReadonlySet<string>;
  /** Follow the references of every child, too. */
  readonly recursive: boolean;
  /** Further models to fetch of each object. */
  readonly related: ReadonlySet<string>;
}

export interface Collected {
  readonly objectId: string;
  readonly model: string;
  readonly stored: Json;
}

const together = 8;

/**
 * Fetches a model, its children over outgoing references within the same model id, and their related models, each once,
 * level by level (A10).
 * @returns the models, parents before children, and texts about missing models
 * @throws Rejection when the first model does not exist, when the device may not read a model, or beyond the limits
 */
export async function collect(
  collection: Collection,
  limits: { readonly maxSyncModels: number; readonly maxSyncBytes: number },
  { informationModel }: BoundBackends,
): Promise<{ models: Collected[]; missing: string[] }> {
  const { model, recursive } = collection;
  const related = [...collection.related];
  const models: Collected[] = [];
  const missing: string[] = [];
  const visited = new Set<string>();
  let bytes = 0;

  async function fetchAll(
    wanted: readonly Omit<Collected, 'stored'>[],
    read: (objectId: string, model: string) => Promise<Json | undefined> = informationModel.getModel,
  ): Promise<Collected[]> {
    const fresh = wanted.filter((one) => {
      const key = JSON.stringify([one.objectId.toLowerCase(), one.model]);
      if (visited.has(key)) return false;
      if (visited.size === limits.maxSyncModels) throw tooLarge(`more than ${limits.maxSyncModels} object models`);
      return visited.add(key);
    });
    const fetched = await inOrder(fresh, async (one) => {
      const stored = await read(one.objectId, one.model);
      bytes += stored === undefined ? 0 : Buffer.byteLength(stored.text);
      if (bytes > limits.maxSyncBytes) throw tooLarge(`more than ${limits.maxSyncBytes} bytes of object models`);
      return stored;
    });
    return fresh.flatMap((one, index) => {
      const stored = fetched[index];
      if (stored === undefined) missing.push(`${one.model} of ${one.objectId} is not there`);
      return stored === undefined ? [] : [{ ...one, stored }];
    });
  }

  async function childrenOf(parents: readonly Collected[]): Promise<Omit<Collected, 'stored'>[]> {
    const references = await inOrder(parents, ({ objectId }) => informationModel.references(objectId, model));
    const children = references.flatMap((all) => all ?? []).filter((one) => leadsOn(collection, one));
    return children.flatMap(({ to }) => (to.model === model ? [{ objectId: to.objectId, model }] : []));
  }

  let level = await fetchAll([{ objectId: collection.objectId, model }], informationModel.existingModel);
  for (let depth = 0; level.length > 0; depth += 1) {
    const beside = await fetchAll(level.flatMap(({ objectId }) => related.map((name) => ({ objectId, model: name }))));
    for (const one of level) models.push(one, ...beside.filter(({ objectId }) => objectId === one.objectId));
    const goesOn = leadsAnywhere(collection) && (recursive || depth === 0);
    level = goesOn ? await fetchAll(await childrenOf(level)) : [];
  }
  return { models, missing };
}

const leadsAnywhere = ({ hierarchical, contained, references }: Collection): boolean =>
  hierarchical || contained || references.size > 0;

function leadsOn({ hierarchical, contained, references }: Collection, { name, attributes }: Reference): boolean {
  if (hierarchical) return true;
  if (!contained) return references.has(name);
  return valueIn(attributes, 'isContained') === true || valueIn(attributes, 'isContainment') === true;
}

const tooLarge = (what: string) => new Rejection('response_too_large', `the request would fetch ${what}`);

/** Runs a few reads at a time; starts none after a failure. @returns the results in the order of the input */
async function inOrder<In, Out>(inputs: readonly In[], read: (input: In) => Promise<Out>): Promise<Out[]> {
  const answers: Out[] = [];
  let next = 0;
  async function worker() {
    try {
      for (let index = next++; index < inputs.length; index = next++) answers[index] = await read(inputs[index] as In);
    } catch (error) {
      next = inputs.length;
      throw error;
    }
  }
  await Promise.all(Array.from({ length: Math.min(together, inputs.length) }, worker));
  return answers;
}
