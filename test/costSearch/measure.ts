import type { InternalAxiosRequestConfig } from 'axios';
import { createLog } from '../../src/log/log.ts';
import { fits } from '../../src/protocol/c2d.ts';
import { classify, type HubEvent } from '../../src/protocol/event.ts';
import { forever, wire } from '../support/wiring.ts';
import { devicePrincipal, pump, pumpId } from '../support/world.ts';
import { fillingOf, type Recipe, receivedBytes } from './recipe.ts';
import { leastUpdates, spentSince } from './unit.ts';

/**
 * What messages cost in processor time, with backends and a hub that answer at once, in least updates (D170). Each answer of
 * a backend has an allowance of its own, that of an update of as many bytes: calls have bounds of their own (A4, A10).
 */
export interface Costs {
  /** Handles the message once; says how many bytes the backends answered with. */
  handle(recipe: Recipe, event: HubEvent): Promise<number>;
  /** How often the cost of a least update of as many bytes. */
  factorOf(recipe: Recipe, event: HubEvent, patience: Patience): Promise<number>;
  close(): Promise<void>;
}

/** How sure a measurement is to be. */
export interface Patience {
  readonly rounds: number;
  readonly microseconds: number;
}

export const quick: Patience = { rounds: 3, microseconds: 2_000 };
export const sure: Patience = { rounds: 15, microseconds: 15_000 };

export function createCosts(): Costs {
  let recipe: Recipe | undefined;
  let answers: number[] = [];
  const { backends, dispatch } = wire({
    async adapter(config) {
      const [status, body] = answerTo(config, recipe);
      const data = Buffer.from(body);
      answers.push(data.length);
      return { data, status, statusText: '', headers: {}, config };
    },
    log: createLog('info', { write: () => {} }), // what a line costs counts, too
    send: async (reply) => (fits(reply) ? 'delivered' : { dropped: 'too_large' }),
    deadLetters: { park: async () => {}, remove: async () => {} },
  });
  async function once(event: HubEvent): Promise<void> {
    const generation = classify(event);
    if (generation === undefined) return;
    const origin = { hub: 'hub', partition: '0' };
    const deviceId = recipe?.stored ?? 'well-behaved'; // what one device is answered is not remembered for another
    await dispatch({ event, generation, deviceId, origin, redelivered: false }, forever);
  }

  /** Of the message alone, in microseconds. */
  async function costOf(event: HubEvent, microseconds: number): Promise<number> {
    const began = process.cpuUsage();
    for (let times = 1; ; times += 1) {
      await once(event);
      const spent = spentSince(began);
      if (spent >= microseconds) return spent / times;
    }
  }

  async function answersOf(which: Recipe, event: HubEvent): Promise<readonly number[]> {
    recipe = which;
    answers = [];
    await once(event);
    return answers;
  }

  return {
    async handle(which, event) {
      return (await answersOf(which, event)).reduce((sum, bytes) => sum + bytes, 0);
    },

    /** The middle of some rounds, in each of which message and unit take turns: both find the machine equally busy. */
    async factorOf(which, event, { rounds, microseconds }) {
      const sizes = [receivedBytes(event), ...(await answersOf(which, event))];
      const factors: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        const allowed = leastUpdates(sizes, microseconds / 2);
        factors.push((await costOf(event, microseconds)) / allowed);
      }
      return factors.sort((a, b) => a - b)[rounds >> 1] ?? 0;
    },
    close: () => backends.close(),
  };
}

function answerTo({ method, url = '' }: InternalAxiosRequestConfig, recipe: Recipe | undefined): [number, string] {
  const verb = method?.toUpperCase();
  const stored = recipe?.stored ?? 'small';
  const refused = (status: number): [number, string] => [
    status,
    JSON.stringify({ errors: [{ code: String(status) }] }),
  ];
  if (url.startsWith('/devices')) {
    return verb === 'GET'
      ? [200, JSON.stringify({ data: [{ id: devicePrincipal, identity: 'd1', path: 'd1' }] })]
      : [204, ''];
  }
  if (url.startsWith('/modelDefinitions')) {
    const names = stored === 'as hostile' ? Array.from({ length: 256 }, (_, index) => `serial${index}`) : ['serial'];
    return [verb === 'GET' ? 200 : 201, JSON.stringify({ typeId: 'pump', version: '1.0.0', uniqueProperties: names })];
  }
  if (url.endsWith('/references/out')) {
    if (verb !== 'GET') return [201, '{}'];
    const reference = { name: 'other', to: { objectId: pumpId, model: 'svc.device' }, attributes: {} };
    const many = stored === 'as hostile' ? 20_000 : 1;
    return [200, JSON.stringify({ data: Array.from({ length: many }, () => reference) })];
  }
  if (url === '/query') return [200, JSON.stringify({ data: stored === 'nothing' ? [] : [pump()] })];
  if (verb === 'GET' && (stored === 'nothing' || url.includes('svc.configuration'))) return refused(404);
  const model = JSON.stringify(pump());
  if (verb === 'GET' || stored !== 'as hostile' || recipe === undefined) return [verb === 'POST' ? 201 : 200, model];
  return [verb === 'POST' ? 201 : 200, echoing(model, fillingOf(recipe))];
}

/** A stored model that holds what the message held, if that is JSON. */
function echoing(model: string, filling: string): string {
  try {
    JSON.parse(filling);
    return `${model.slice(0, -1)},"variables":{"x":${filling}}}`;
  } catch {
    return model;
  }
}
