import type { Recipe } from './recipe.ts';

const common = {
  ...{ open: '{"":1', close: '}', size: 524_000, encoding: 'gzip', properties: 0, propertyText: 'a', propertySize: 1 },
  ...{ stored: 'small', storedCount: 20_000, storedSize: 10 },
} as const satisfies Partial<Recipe>;

/** An honest message; what is stored is not. */
const stored = {
  ...common,
  ...{ place: 'x', open: '1', unit: '0', close: '', size: 10, encoding: 'none' },
} as const satisfies Partial<Recipe>;

/** It has a long text where what is stored is unique. */
const longUnique = {
  ...stored,
  ...{ message: 'model.create', place: 'unique', open: '"', unit: '\\n', close: '"', encoding: 'gzip' },
  storedCount: 1_000,
} as const satisfies Partial<Recipe>;

/**
 * The worst messages that the search has found, each of another kind. What they cost in steps is tested (`cost.test.ts`),
 * and every search begins with them.
 */
export const finds: Readonly<Record<string, Recipe>> = {
  'a key that is read, escaped and repeated': {
    ...common,
    ...{ message: 'model.create', place: '', unit: ',"\\u0074ype":1', encoding: 'gzip base64' },
  },
  'a key that is read, repeated': { ...common, message: 'model.update', place: '', unit: ',"version":1,"version":1' },
  'as many members as are allowed': {
    ...common,
    ...{ message: 'identity.update', place: '', unit: ',"a":1,"a":1', size: 24_000 },
  },
  'an object that does not end': { ...common, message: 'model.update', place: '', unit: ',"version\\n":1', close: '' },
  'a number of half a million digits': {
    ...common,
    ...{ message: 'model.create', place: 'x', open: '1', unit: '1010', close: '', encoding: 'gzip quoted' },
    ...{ properties: 1_000, propertyText: '1', stored: 'as hostile' },
  },
  'a text of half a million characters': {
    ...common,
    ...{ message: 'model.create', place: 'x', open: '"', unit: 'x', close: '"', encoding: 'deflate' },
  },
  'a unique property of half a million characters': {
    ...common,
    ...{ message: 'model.create', place: 'unique', open: '"', unit: '\\n', close: '"' },
  },
  'properties that are named like unique ones': {
    ...common,
    ...{ message: 'model.create', place: 'properties', open: '{"serial":"1"', unit: ',"seriaL":1' },
    stored: 'as hostile',
  },
  'a unique property that repeats itself': {
    ...common,
    ...{ message: 'model.create', place: 'properties', open: '{"serial0":"1"', unit: ',"serial1":1', close: '}' },
    size: 390_000,
    stored: 'as hostile',
  },
  'twenty thousand stored references': {
    ...common,
    ...{ message: 'Svc.Device.SyncModel', place: 'references', open: '["a"', unit: ',"contains"', close: ']' },
    ...{ size: 9_000, encoding: 'none', stored: 'as hostile' },
  },
  'as many references as are read, and they are followed': {
    ...stored,
    message: 'Svc.Device.SyncModel',
    stored: 'followed references',
  },
  'references to other models': { ...stored, message: 'Svc.Device.SyncModel', stored: 'references of other models' },
  'more references than are read': {
    ...stored,
    ...{ message: 'Svc.Device.SyncModel', stored: 'references', storedCount: 40_000 },
  },
  'as many hits as are read': { ...stored, message: 'model.create', stored: 'hits', storedCount: 1_000 },
  'wrapped values of hits, under an escaped key': {
    ...stored,
    ...{ message: 'model.create', stored: 'wrapped hits', storedCount: 1_000 },
  },
  'hits that all have a text of nothing but escapes, as the request': {
    ...longUnique,
    ...{ size: 20_000, stored: 'long hits', storedSize: 5_000 },
  },
  'hits with short values for a request with a long one': { ...longUnique, size: 500_000, stored: 'hits' },
  'hits with one long value that is wrapped': {
    ...stored,
    ...{ message: 'model.create', place: 'unique', open: '{"value":1', unit: '\n', close: '}', stored: 'long hits' },
    storedCount: 1,
    storedSize: 4_900_000,
  },
  'a refusal in words that are values of a large body': {
    ...stored,
    ...{ message: 'model.create', place: 'properties', open: '{"serial0":"1"', unit: ',"s\\nerial1":1,"s\\nerial1":1' },
    ...{ close: '}', encoding: 'gzip', size: 434_739, stored: 'refusals in words' },
  },
  'as many related models as are read': {
    ...stored,
    ...{ message: 'model.create', stored: 'related models', storedCount: 3_000 },
  },
  'a model of members that are read, escaped and repeated': {
    ...stored,
    ...{ message: 'Svc.Device.SyncModel', unit: ',"\\u0074ype":1', stored: 'models of members', storedSize: 5_000_000 },
  },
  'a model of nothing but short values': {
    ...stored,
    ...{ message: 'Svc.Device.SyncModel', open: '[1', unit: ',1', close: ']', stored: 'large models' },
    storedSize: 5_000_000,
  },
  'a model of nothing but text that is not ASCII': {
    ...stored,
    ...{ message: 'Svc.Device.SyncModel', open: '"', unit: '€', close: '"', stored: 'large models' },
    storedSize: 5_000_000,
  },
  'a list of names that is none': {
    ...common,
    ...{ message: 'Svc.Device.SyncModel', place: 'references', open: '[1', unit: ',1', close: ']', size: 250_000 },
    encoding: 'none',
  },
  'references whose attributes are looked at': {
    ...common,
    ...{ message: 'reference.create', place: '', open: '[{}' },
    unit: ',{"name":"other","to":{"objectId":"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa","model":"svc.device"},"attributes":{"isParent":false}}',
    ...{ close: ']', size: 110_000, stored: 'followed references' },
  },
};
