import type { InternalAxiosRequestConfig } from 'axios';
import { devicePrincipal, pump, pumpId } from '../support/world.ts';
import { fillingOf, type Recipe } from './recipe.ts';

/** What backends answer, made of what the recipe says that they have stored. Each answer is made once. */
export function answersOf(recipe: Recipe): (config: InternalAxiosRequestConfig) => readonly [number, Buffer] {
  const made = new Map<string, readonly [number, Buffer]>();
  return ({ method = '', url = '' }) => {
    const key = `${method.toUpperCase()} ${kindOf(url)}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const [status, body] = answerTo(key, recipe);
    const answer = [status, Buffer.from(body)] as const;
    made.set(key, answer);
    return answer;
  };
}

type Kind = 'identity' | 'type' | 'references' | 'hits' | 'configuration' | 'model';

function kindOf(url: string): Kind {
  if (url.startsWith('/devices')) return 'identity';
  if (url.startsWith('/modelDefinitions')) return 'type';
  if (url.endsWith('/references/out')) return 'references';
  if (url === '/query') return 'hits';
  return url.includes('svc.configuration') ? 'configuration' : 'model';
}

function answerTo(key: string, recipe: Recipe): [number, string] {
  const { stored } = recipe;
  const isRead = key.startsWith('GET ');
  const repeat = <T>(one: T): T[] => Array.from({ length: recipe.storedCount }, () => one);
  const filling = storedFilling(recipe);
  switch (key.split(' ')[1] as Kind) {
    case 'identity':
      if (!isRead) return [204, ''];
      return [200, JSON.stringify({ data: [{ id: devicePrincipal, identity: 'd1', path: 'd1' }] })];
    case 'type': {
      const isMany = stored === 'as hostile' || stored === 'unique properties';
      const names = isMany ? Array.from({ length: 256 }, (_, index) => `serial${index}`) : ['serial'];
      const definition = { typeId: 'pump', version: '1.0.0', uniqueProperties: names };
      return [isRead ? 200 : 201, withMember(definition, stored === 'large type', filling)];
    }
    case 'references': {
      if (!isRead) return [201, '{}'];
      const reference = { name: 'other', to: { objectId: pumpId, model: 'svc.device' }, attributes: {} };
      const all = {
        references: repeat(reference),
        'as hostile': repeat(reference),
        'followed references': repeat({ ...reference, name: 'contains', attributes: { isContained: true } }),
        'references of other models': repeat({ ...reference, name: 'contains', to: { ...reference.to, model: 'x' } }),
        'large references': [reference],
      }[stored as string] ?? [reference];
      return [200, `{"data":${withMember(all, stored === 'large references', filling, 'attributes')}}`];
    }
    case 'hits': {
      if (stored === 'nothing') return [200, '{"data":[]}'];
      const hit = JSON.stringify(pump());
      const values = {
        ...{ hits: '"FP-1"', 'wrapped hits': '{"\\u0076alue":"FP-1"}', 'long hits': filling },
        'wrapped long hits': `{"value":${filling}}`,
        'hits of other types': '"FP-1"',
      };
      const value = values[stored as keyof typeof values];
      if (value === undefined) return [200, `{"data":[${hit}]}`];
      const one = hit
        .replace('"FP-1"', value)
        .replace('"pump@', stored === 'hits of other types' ? '"tank@' : '"pump@');
      const fitting = Math.max(1, Math.min(recipe.storedCount, Math.floor(mostBytes / one.length)));
      return [200, `{"data":[${Array.from({ length: fitting }, () => one).join()}]}`];
    }
    case 'configuration':
      return isRead ? [404, problem(stored === 'large refusals', filling)] : [204, ''];
    case 'model': {
      if (isRead && stored === 'nothing') return [404, problem(false, filling)];
      if (!isRead && stored === 'large refusals') return [400, problem(true, filling)];
      if (!isRead && stored === 'refusals in words') return [400, problem(true, JSON.stringify(inWords))];
      const model = JSON.stringify(pump());
      const status = key.startsWith('POST') ? 201 : 200;
      if (stored === 'large models') return [status, `${model.slice(0, -1)},"x":${filling}}`];
      if (stored === 'models of members') return [status, `${model.slice(0, -1)}${repeated(recipe)}}`];
      if (!isRead && stored === 'related models') {
        const related = { model: 'svc.a', success: false, code: 'ok', details: 'd'.repeat(900) };
        const fitting = Math.min(recipe.storedCount, Math.floor(mostBytes / 1_000));
        return [status, `${model.slice(0, -1)},"relatedModels":${JSON.stringify(repeat(related).slice(0, fitting))}}`];
      }
      if (!isRead && stored === 'related models with details') {
        return [
          status,
          `${model.slice(0, -1)},"relatedModels":[{"model":"a","success":true,"code":"ok","details":${filling}}]}`,
        ];
      }
      if (!isRead && stored === 'as hostile') return [status, echoing(model, fillingOf(recipe))];
      return [status, model];
    }
  }
}

/** As backends that quote what they refuse: values of the request are taken out again. */
const inWords = 'The value "1" of property "serial1" of pump FP-10000000 is not "type", "a" or 12345678.'.repeat(10);

/** An answer may have 5 MiB. */
const mostBytes = 5_000_000;

const repeated = ({ unit, storedSize }: Recipe): string =>
  unit.repeat(Math.max(1, Math.floor(Math.min(storedSize, mostBytes) / Math.max(1, Buffer.byteLength(unit)))));

const storedFilling = (recipe: Recipe): string => recipe.open + repeated(recipe) + recipe.close;

function withMember(value: unknown, isFilled: boolean, filling: string, key = 'x'): string {
  const text = JSON.stringify(value);
  if (!isFilled) return text;
  return Array.isArray(value)
    ? text.replace(`"${key}":{}`, () => `"${key}":${filling}`)
    : `${text.slice(0, -1)},"${key}":${filling}}`;
}

const problem = (isLarge: boolean, filling: string): string =>
  isLarge ? `{"errors":[{"code":"400","title":${filling}}]}` : '{"errors":[{"code":"404"}]}';

/** A stored model that holds what the message held, if that is JSON. */
function echoing(model: string, filling: string): string {
  try {
    JSON.parse(filling);
    return `${model.slice(0, -1)},"variables":{"x":${filling}}}`;
  } catch {
    return model;
  }
}
