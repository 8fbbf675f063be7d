import type { Recipe } from './recipe.ts';

const common = {
  open: '{"":1',
  close: '}',
  size: 524_000,
  encoding: 'gzip',
  properties: 0,
  propertyText: 'a',
  propertySize: 1,
  stored: 'small',
} as const satisfies Partial<Recipe>;

/**
 * The worst messages that the search has found, each of another kind. What they cost in steps is tested (`cost.test.ts`),
 * and every search begins with them.
 */
export const finds: Readonly<Record<string, Recipe>> = {
  'a key that is read, escaped and repeated': {
    ...common,
    message: 'model.create',
    place: '',
    unit: ',"\\u0074ype":1',
    encoding: 'gzip base64',
  },
  'a key that is read, repeated': { ...common, message: 'model.update', place: '', unit: ',"version":1,"version":1' },
  'as many members as are allowed': {
    ...common,
    message: 'identity.update',
    place: '',
    unit: ',"a":1,"a":1',
    size: 24_000,
  },
  'an object that does not end': { ...common, message: 'model.update', place: '', unit: ',"version\\n":1', close: '' },
  'a number of half a million digits': {
    ...common,
    message: 'model.create',
    place: 'x',
    open: '1',
    unit: '1010',
    close: '',
    encoding: 'gzip quoted',
    properties: 1_000,
    propertyText: '1',
    stored: 'as hostile',
  },
  'a text of half a million characters': {
    ...common,
    message: 'model.create',
    place: 'x',
    open: '"',
    unit: 'x',
    close: '"',
    encoding: 'deflate',
  },
  'a unique property of half a million characters': {
    ...common,
    message: 'model.create',
    place: 'unique',
    open: '"',
    unit: '\\n',
    close: '"',
  },
  'properties that are named like unique ones': {
    ...common,
    message: 'model.create',
    place: 'properties',
    open: '{"serial":"1"',
    unit: ',"seriaL":1',
    stored: 'as hostile',
  },
  'twenty thousand stored references': {
    ...common,
    message: 'Svc.Device.SyncModel',
    place: 'references',
    open: '["a"',
    unit: ',"contains"',
    close: ']',
    size: 9_000,
    encoding: 'none',
    stored: 'as hostile',
  },
  'a list of names that is none': {
    ...common,
    message: 'Svc.Device.SyncModel',
    place: 'references',
    open: '[1',
    unit: ',1',
    close: ']',
    size: 250_000,
    encoding: 'none',
  },
};
