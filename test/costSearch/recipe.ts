import { deflateSync, gzipSync } from 'node:zlib';
import { maxReceivedBytes } from '../../src/protocol/body.ts';
import type { HubEvent } from '../../src/protocol/event.ts';
import type { Random } from '../chaos/random.ts';
import { hubEvent, requestProperties } from '../support/events.ts';
import { pumpId } from '../support/world.ts';

/** What a message is made of: a text that repeats itself, at some place of a body that would be accepted without it. */
export interface Recipe {
  readonly message: string;
  /** Member whose value holds the repetitions; the outermost object itself when empty. */
  readonly place: string;
  readonly open: string;
  readonly unit: string;
  readonly close: string;
  /** Bytes of the body before it is compressed, about. */
  readonly size: number;
  readonly encoding: 'none' | 'gzip' | 'deflate' | 'gzip base64' | 'deflate base64' | 'gzip quoted';
  /** Further application properties: how many, and the text that their names and values repeat. */
  readonly properties: number;
  readonly propertyText: string;
  readonly propertySize: number;
  /** What the backends have stored: how many, where there are many, and bytes of repetitions, where it is large. */
  readonly stored: Stored;
  readonly storedCount: number;
  readonly storedSize: number;
}

const storedKinds = [
  ...(['nothing', 'small', 'as hostile', 'unique properties', 'large type'] as const),
  ...(['large refusals', 'refusals in words'] as const),
  ...(['references', 'followed references', 'references of other models', 'large references'] as const),
  ...(['hits', 'hits of other types', 'wrapped hits', 'long hits', 'wrapped long hits'] as const),
  ...(['related models', 'related models with details', 'large models', 'models of members'] as const),
] as const;

export type Stored = (typeof storedKinds)[number];

const places: Readonly<Record<string, readonly string[]>> = {
  'model.create': ['', 'properties', 'objectId', 'model', 'type', 'version', 'x', 'unique', 'wrapped'],
  'model.update': ['', 'properties', 'version', 'x'],
  'type.create': ['', 'typeId', 'version', 'unique', 'x'],
  'reference.create': ['', 'x'],
  'identity.update': ['', 'identity', 'publicKey'],
  'identity.delete': ['', 'identity', 'x'],
  'Svc.Device.Created': ['', 'properties', 'parent', 'type', 'model', 'objectId', 'unique', 'x'],
  'Svc.Device.Updated': ['', 'properties', 'version', 'type', 'x'],
  'Svc.Device.SyncModel': ['', 'references', 'related', 'hierarchical', 'model', 'x'],
};

const members: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'model.create': { model: 'svc.device', type: 'pump', properties: { serial: 'FP-1' } },
  'model.update': { type: 'pump', version: 1, properties: {} },
  'type.create': { typeId: 'pump', version: '1.0.0' },
  'identity.update': { identity: 'sensor-1' },
  'identity.delete': { identity: 'sensor-1' },
  'Svc.Device.Created': { model: 'svc.device', type: 'pump', properties: { serial: 'FP-1' } },
  'Svc.Device.Updated': { type: 'pump', version: 1 },
  'Svc.Device.SyncModel': {
    objectId: pumpId,
    model: 'svc.device',
    references: ['contains'],
    related: ['svc.configuration'],
  },
};

const messages = Object.keys(places);
const encodings = ['none', 'gzip', 'deflate', 'gzip base64', 'deflate base64', 'gzip quoted'] as const;
const brackets = [
  ['[1', ']'],
  ['{"":1', '}'],
  ['"', '"'],
  ['[[]', ']'],
  ['', ''],
  ['1', ''],
  ['1e', ''],
  ['[', ''],
  ['{"serial":"1"', '}'],
  ['{"value":1', '}'],
] as const;
const units = [
  ...[',1', ',{}', ',[]', ',""', ',"a"', ',null', ',[[[[]]]]', ',{"":{"":1}}', ',1e9', ',-0.0e-0', ' ', '\n', 'x'],
  ...['0', '[', '{"":'],
  ...[',"":1', ',"a":1', ',"typf":1', ',"type":1', ',"version":1', ',"properties":{}', ',"serial":1', ',"value":1'],
  ',"seriaL":1',
  ...['\\n', '\\u0041', '\\"', '\\\\', 'é', '€', '😀', ',"\\u0074ype":1', ',"\\u0074ypf":1', ',"€":1', ',"contains"'],
  ',"svc.a"',
];
const crumbs = [
  ...['{', '}', '[', ']', '"', ',', ':', '1', '"":', '\\u0041', '\\n', 'e', '.', ' ', 'a', 'type', 'serial', 'value'],
  '€',
  '{}',
  '[]',
];
const propertyTexts = ['a', '€', 'a/', '../', '%', ' ', '\\', '"', '\u0000', '.', '1', 'A-'];

export function newRecipe({ pick, between }: Random): Recipe {
  const message = pick(messages);
  const [open, close] = pick(brackets);
  return {
    ...{ message, place: pick(places[message] ?? ['']), open, unit: pick(units), close },
    size: pick([200, 4_000, 60_000, 250_000, 524_000, 600_000]),
    encoding: pick(encodings),
    properties: between(0, 3) === 0 ? pick([1, 10, 100, 1_000, 5_000]) : 0,
    propertyText: pick(propertyTexts),
    propertySize: pick([1, 5, 300, 32_000, 60_000]),
    stored: pick(storedKinds),
    storedCount: pick([1, 30, 1_000, 3_000, 20_000, 40_000]),
    storedSize: pick([10, 1_000, 60_000, 1_000_000, 5_000_000]),
  };
}

export function changed(recipe: Recipe, random: Random): Recipe {
  const { pick, between } = random;
  const fresh = newRecipe(random);
  const { message, place } = recipe;
  const changes: (() => Partial<Recipe>)[] = [
    () => ({ unit: fresh.unit }),
    () => ({ unit: spliced(recipe.unit, random) }),
    () => ({ unit: spliced(recipe.unit, random) }),
    () => ({ unit: recipe.unit + recipe.unit.slice(0, 20) }),
    () => ({ open: fresh.open, close: fresh.close }),
    () => ({ size: Math.max(50, Math.min(700_000, Math.round(recipe.size * (0.5 + 1.5 * random.next())))) }),
    () => ({ encoding: fresh.encoding }),
    () => ({ place: pick(places[message] ?? ['']) }),
    () => ({ message: fresh.message, place: places[fresh.message]?.includes(place) ? place : fresh.place }),
    () => ({ properties: fresh.properties, propertyText: fresh.propertyText, propertySize: fresh.propertySize }),
    () => ({ stored: fresh.stored }),
    () => ({ storedCount: fresh.storedCount, storedSize: fresh.storedSize }),
  ];
  const once = { ...recipe, ...pick(changes)() };
  return between(0, 1) === 0 ? once : { ...once, ...pick(changes)() };
}

function spliced(unit: string, { pick, between }: Random): string {
  const at = between(0, unit.length);
  return (unit.slice(0, at) + pick([...crumbs, '']) + unit.slice(at + between(0, 2))).slice(0, 60);
}

export const fillingOf = ({ open, unit, close, size }: Recipe): string =>
  open + unit.repeat(Math.max(1, Math.floor(size / Math.max(1, Buffer.byteLength(unit))))) + close;

function bodyOf(recipe: Recipe): string {
  const filling = fillingOf(recipe);
  const { message, place } = recipe;
  const honest = members[message];
  if (honest === undefined) return place === '' ? filling : `[{"name":"contains","to":${filling}}]`;
  const all = Object.entries(honest).filter(([key]) => key !== place);
  const texts = all.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`);
  if (place === '') return `{${texts.join()}${filling.replace(/^\{"":1/, '')}`;
  if (place === 'unique') return `{${texts.join().replace(/"serial":"FP-1"/, `"serial":${filling}`)}}`;
  if (place === 'wrapped') return `{${texts.join().replace(/"serial":"FP-1"/, `"serial":{"value":${filling}}`)}}`;
  return `{${texts.join()},${JSON.stringify(place)}:${filling}}`;
}

function encoded(text: string, encoding: Recipe['encoding']): Buffer {
  const [format = 'none', form] = encoding.split(' ');
  if (format === 'none') return Buffer.from(text);
  const data = format === 'gzip' ? gzipSync(text, { level: 9 }) : deflateSync(text, { level: 9 });
  if (form === undefined) return data;
  return Buffer.from(form === 'quoted' ? `"${data.toString('base64')}"` : data.toString('base64'));
}

export function eventOf(recipe: Recipe): HubEvent | undefined {
  const { message, encoding, properties: count, propertyText, propertySize } = recipe;
  const isV2 = !message.startsWith('Svc.');
  const filler = propertyText.repeat(Math.ceil(propertySize / propertyText.length));
  const properties: Record<string, unknown> = {
    ...requestProperties[isV2 ? 'V2' : 'V1'](message),
    ...(/^(model\.update|reference\.create|Svc\.Device\.Updated)$/.test(message) && { objectId: pumpId }),
    ...(isV2 && encoding !== 'none' && { 'content-encoding': encoding.split(' ')[0] }),
  };
  for (let index = 0; index < count; index += 1) properties[`${index}${filler.slice(0, 5)}`] = filler;
  if (count === 1) Object.assign(properties, { parent: filler, owner: filler, target: filler });
  const body = encoded(bodyOf(recipe), isV2 ? encoding : 'none');
  const event = hubEvent({ properties, body });
  return receivedBytes(event) > maxReceivedBytes ? undefined : event;
}

/** As the hub counts them: body, names and values of properties. */
export function receivedBytes({ body, properties = {} }: HubEvent): number {
  let bytes = (body as Uint8Array).byteLength;
  for (const [name, value] of Object.entries(properties)) bytes += Buffer.byteLength(name + String(value));
  return bytes;
}

export const wordsFor = ({ open, unit, close, propertyText, ...rest }: Recipe): string =>
  JSON.stringify({ ...rest, text: `${open}(${unit})*${close}`, propertyText });
