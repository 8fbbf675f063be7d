import type { BoundBackends } from '../backends/backends.ts';
import { isMarked, isNamed, objectOf, type Reference } from '../backends/informationModel.ts';
import type { KeepingRoom } from '../backends/sending.ts';
import { inOrder } from '../concurrency/waiting.ts';
import { bytesOf, keysOf, sizeOf } from '../protocol/json.ts';
import { Rejection } from '../protocol/rejection.ts';
import type { MessageLimits } from '../settings/constants.ts';
import { keptOf } from './storedModel.ts';

type WantedModel = Readonly<Record<'objectId' | 'model', string>>;

/**
 * What `Svc.Device.SyncModel` fetches, starting with one model: it follows every reference, those that mark the child as contained, or those of
 * the names, `recursive` those of every child, too. `related` are further models of each object.
 */
export interface Collection extends WantedModel {
  readonly hierarchical: boolean;
  readonly contained: boolean;
  readonly references: ReadonlySet<string>;
  readonly recursive: boolean;
  readonly related: ReadonlySet<string>;
}

type Limits = Pick<MessageLimits, 'maxSyncModels' | 'maxSyncBytes' | 'maxReferences'>;

/** With the backend's own text of it; see `keptOf`. */
type CollectedModel = WantedModel & { readonly text: Buffer };
const together = 8;
/** Texts that each walk may keep without further room. */
export const bytesBeforeRoom = 64 * 1024;

/** The texts of a walk need more than what each message has. */
class NoRoom extends Error {
  readonly room: Promise<void>;
  constructor(room: Promise<void>) {
    super('the walk has to wait for room');
    this.room = room;
  }
}

/**
 * Fetches a model, its children over outgoing references within the same model id, and their related models, each once,
 * level by level (A10). A walk that keeps more than each message may, and finds no room for it, begins again when there is: walks that
 * kept what they have would wait for each other.
 * @throws Rejection when the first model does not exist, when the device may not read a model, or beyond the limits
 */
export async function collect(...given: Parameters<typeof walk>): ReturnType<typeof walk> {
  for (;;) {
    try {
      return await walk(...given);
    } catch (error) {
      if (!(error instanceof NoRoom)) throw error;
      await error.room;
    }
  }
}

/** @returns models, parents before children, and texts about missing models */
async function walk(collection: Collection, limits: Limits, { informationModel }: BoundBackends, room: KeepingRoom) {
  const { maxSyncModels, maxSyncBytes, maxReferences } = limits;
  const { model, recursive } = collection;
  const related = [...collection.related];
  const models: CollectedModel[] = [];
  const missing: string[] = [];
  const visited = new Set<string>();
  const follows = childrenFor(collection);
  const childOf = objectOf(model);
  let [bytes, kept, references, referenceBytes] = [0, 0, 0, 0];

  async function fetchAll(wanted: Iterable<WantedModel>, read = informationModel.getModel): Promise<CollectedModel[]> {
    const fresh: WantedModel[] = [];
    for (const one of wanted) {
      const key = JSON.stringify([one.objectId.toLowerCase(), one.model]);
      if (visited.has(key)) continue;
      if (visited.size === maxSyncModels) throw tooManyModels(maxSyncModels);
      visited.add(key);
      fresh.push(one);
    }
    const fetched = await inOrder(together, fresh, async (one) => {
      const stored = await read(one.objectId, one.model);
      bytes += stored === undefined ? 0 : sizeOf(stored);
      if (bytes > maxSyncBytes) throw tooLarge(`more than ${maxSyncBytes} bytes of object models`);
      return stored && keep(bytesOf(stored));
    });
    return fresh.flatMap((one, index) => {
      const text = fetched[index];
      if (text === undefined) missing.push(`${one.model} of ${one.objectId} is not there`);
      return text === undefined ? [] : [{ ...one, text }];
    });
  }

  function keep(text: Buffer): Buffer {
    const own = keptOf(text);
    kept += own.length;
    const waiting = kept > bytesBeforeRoom ? room.takeAll() : undefined;
    if (waiting !== undefined) throw new NoRoom(waiting);
    return own;
  }

  async function childrenOf({ objectId }: CollectedModel): Promise<readonly WantedModel[]> {
    const children = new Map<string, WantedModel>();
    await informationModel.references(objectId, model, (reference) => {
      references += 1;
      if (references > maxReferences) throw tooLarge(`more than ${maxReferences} references`);
      referenceBytes += sizeOf(reference);
      if (referenceBytes > maxSyncBytes) throw tooLarge(`more than ${maxSyncBytes} bytes of references`);
      if (!follows?.(reference)) return;
      const id = childOf(reference);
      const key = id?.toLowerCase();
      if (id === undefined || key === undefined || children.has(key)) return;
      children.set(key, { objectId: id, model });
      if (children.size > maxSyncModels) throw tooManyModels(maxSyncModels);
    });
    return [...children.values()];
  }

  let level = await fetchAll([{ objectId: collection.objectId, model }], informationModel.existingModel);
  for (let depth = 0; level.length > 0; depth += 1) {
    const beside = await fetchAll(besides(level, related));
    for (const one of level) models.push(one, ...beside.filter(({ objectId }) => objectId === one.objectId));
    const goesOn = follows !== undefined && (recursive || depth === 0);
    level = goesOn ? await fetchAll((await inOrder(together, level, childrenOf)).flat()) : [];
  }
  return { models, missing };
}

const containment = keysOf(['isContained', 'isContainment']);

/** Whether the walk follows a reference; undefined when it follows none. */
function childrenFor(collection: Collection): ((reference: Reference) => boolean) | undefined {
  const { hierarchical, contained, references } = collection;
  if (hierarchical) return () => true;
  if (contained) return (reference) => isMarked(reference, containment);
  return references.size > 0 ? isNamed(references) : undefined;
}

/** One by one: there may be many more than may be fetched. */
function* besides(level: readonly WantedModel[], related: readonly string[]): Iterable<WantedModel> {
  for (const { objectId } of level) for (const model of related) yield { objectId, model };
}

const tooManyModels = (most: number) => tooLarge(`more than ${most} object models, with those that are not there`);

const tooLarge = (what: string) => new Rejection('response_too_large', `the request would fetch ${what}`);
