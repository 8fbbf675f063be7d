import type { InternalAxiosRequestConfig } from 'axios';
import { createLog } from '../../src/observing/log.ts';
import { classify, type HubEvent } from '../../src/protocol/event.ts';
import { fits } from '../../src/protocol/reply.ts';
import { forever, wire } from '../support/wiring.ts';
import { devicePrincipal, pump, pumpId } from '../support/world.ts';
import { fillingOf, type Recipe, receivedBytes } from './recipe.ts';
import { countSteps } from './search.ts';

/**
 * The unit of what messages cost (D170): the least that an update can cost, which takes as long as `JSON.parse` of 16 KiB of
 * measured values. It changes with the machine, but not with the service.
 */

const bytesOfLeastUpdate = 16_384;

const measured = Array.from({ length: 370 }, (_, index) => `"value${index % 90}":{"value":21.75,"unit":"°C"}`);
const ordinary = `{"type":"pump","version":1,"properties":{"serial":"FP-1",${measured.join()}}}`;
const bytesOfOrdinary = Buffer.byteLength(ordinary);

/** The least update of so many bytes, in bytes that `JSON.parse` reads. */
const leastUpdate = (bytes: number): number => bytesOfLeastUpdate + bytes;

/** What `JSON.parse` takes for one byte now, in microseconds. */
function microsecondsPerByte(microseconds: number): number {
  const began = process.cpuUsage();
  for (let times = 1; ; times += 1) {
    JSON.parse(ordinary);
    const spent = spentSince(began);
    if (spent >= microseconds) return spent / times / bytesOfOrdinary;
  }
}

/** Of processor time of this process, in microseconds. */
function spentSince(began: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(began);
  return user + system;
}

/**
 * What messages cost in processor time, with backends and a hub that answer at once, as a share of what they may cost: 25 times
 * the least update of as many bytes (D170), and for each call one least update of the bytes that are sent with it (two when it is refused),
 * and three times what `JSON.parse` takes for the bytes of its answer (D186).
 */
interface Costs {
  /** Handles the message once; says in words which steps are too many. */
  excessOf(recipe: Recipe, event: HubEvent): Promise<readonly string[]>;
  /** Above 1, it costs more than it may. */
  shareOf(recipe: Recipe, event: HubEvent, patience: Patience): Promise<number>;
  close(): Promise<void>;
}

/** How sure a measurement is to be. */
type Patience = Readonly<{ rounds: number; microseconds: number }>;

export const quick: Patience = { rounds: 3, microseconds: 2_000 };
export const sure: Patience = { rounds: 15, microseconds: 15_000 };

const mostForMessage = 25;
/** In least updates of the bytes that were sent: their values are taken out of the words of a refusal. */
const mostForRefusal = 2;
/** In times that `JSON.parse` takes. */
const mostForAnswer = 3;

export function createCosts(): Costs {
  let answer: ReturnType<typeof answersOf> = () => [404, Buffer.alloc(0)];
  let exchanges: Exchange[] = [];
  const { backends, dispatch } = wire({
    async adapter(config) {
      const [status, data] = answer(config);
      exchanges.push({ sent: Buffer.byteLength(config.data ?? ''), answered: data.length, isRefusal: status >= 400 });
      return { data, status, statusText: '', headers: {}, config };
    },
    log: createLog('info', { write: () => {} }), // what a line costs counts, too
    send: async (reply) => (fits(reply) ? 'delivered' : { dropped: 'too_large' }),
    deadLetters: { park: async () => {}, remove: async () => {} },
  });
  let messages = 0;
  async function once(event: HubEvent): Promise<void> {
    const generation = classify(event);
    if (generation === undefined) return;
    const origin = { hub: 'hub', partition: '0' };
    messages += 1;
    const deviceId = `device-${messages}`; // what one device is answered is not remembered for another
    exchanges = [];
    await dispatch({ event, generation, deviceId, origin, redelivered: false }, forever);
  }

  async function costOf(event: HubEvent, microseconds: number): Promise<number> {
    const began = process.cpuUsage();
    for (let times = 1; ; times += 1) {
      await once(event);
      const spent = spentSince(began);
      if (spent >= microseconds) return spent / times;
    }
  }

  return {
    async excessOf(recipe, event) {
      answer = answersOf(recipe);
      const excess = countSteps();
      await once(event);
      const answers = exchanges.reduce((sum, { answered }) => sum + answered, 0);
      return excess({ body: Buffer.byteLength(fillingOf(recipe)) + 200, answers });
    },

    /** The middle of some rounds, in each of which message and unit take turns: both find the machine equally busy. */
    async shareOf(recipe, event, { rounds, microseconds }) {
      answer = answersOf(recipe);
      await once(event);
      const allowed = exchanges.reduce(
        (bytes, { sent, answered, isRefusal }) =>
          bytes + leastUpdate(sent) * (isRefusal ? mostForRefusal : 1) + mostForAnswer * answered,
        mostForMessage * leastUpdate(receivedBytes(event)),
      );
      const shares: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const perByte = microsecondsPerByte(microseconds / 2);
        shares.push((await costOf(event, microseconds)) / (perByte * allowed));
      }
      return shares.sort((a, b) => a - b)[rounds >> 1] ?? 0;
    },
    close: () => backends.close(),
  };
}

/** Bytes of one call. */
type Exchange = Readonly<{ sent: number; answered: number; isRefusal: boolean }>;

/** What backends answer, made of what the recipe says that they have stored. Each answer is made once. */
function answersOf(recipe: Recipe): (config: InternalAxiosRequestConfig) => readonly [number, Buffer] {
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
      const extended = (member: string): [number, string] => [status, `${model.slice(0, -1)},${member}}`];
      if (stored === 'large models') return extended(`"x":${filling}`);
      if (stored === 'models of members') return [status, `${model.slice(0, -1)}${repeated(recipe)}}`];
      if (!isRead && stored === 'related models') {
        const related = { model: 'svc.a', success: false, code: 'ok', details: 'd'.repeat(900) };
        const fitting = Math.min(recipe.storedCount, Math.floor(mostBytes / 1_000));
        return extended(`"relatedModels":${JSON.stringify(repeat(related).slice(0, fitting))}`);
      }
      if (!isRead && stored === 'related models with details')
        return extended(`"relatedModels":[{"model":"a","success":true,"code":"ok","details":${filling}}]`);
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
