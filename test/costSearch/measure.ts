import type { InternalAxiosRequestConfig } from 'axios';
import { createLog } from '../../src/log/log.ts';
import { fits } from '../../src/protocol/c2d.ts';
import { classify, type HubEvent } from '../../src/protocol/event.ts';
import { hubEvent } from '../support/events.ts';
import { requestProperties } from '../support/requestProperties.ts';
import { forever, wire } from '../support/wiring.ts';
import { devicePrincipal, pump, pumpId } from '../support/world.ts';
import { fillingOf, type Recipe, receivedBytes } from './recipe.ts';

/**
 * What messages cost in processor time, with backends and a hub that answer at once. Each answer of a backend has an
 * allowance of its own, that of an update of as many bytes: calls have bounds of their own (A4, A10).
 */
export interface Costs {
  /** Handles the message once; says how many bytes the backends answered with. */
  handle(recipe: Recipe, event: HubEvent): Promise<number>;
  /** How often the cost of a well-behaved update of as many bytes. */
  factorOf(recipe: Recipe, event: HubEvent, patience: Patience): Promise<number>;
  close(): Promise<void>;
}

/** How sure a measurement is to be. */
export interface Patience {
  readonly rounds: number;
  readonly microseconds: number;
}

export const quick: Patience = { rounds: 2, microseconds: 2_000 };
export const sure: Patience = { rounds: 12, microseconds: 15_000 };

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
  const baselines = new Map<number, Promise<number>>();

  async function once(event: HubEvent): Promise<void> {
    const generation = classify(event);
    if (generation === undefined) return;
    const origin = { hub: 'hub', partition: '0' };
    const deviceId = recipe?.stored ?? 'well-behaved'; // what one device is answered is not remembered for another
    await dispatch({ event, generation, deviceId, origin, redelivered: false }, forever);
  }

  /** The least of some rounds: everything else on the machine only adds to it. In microseconds. */
  async function cost(event: HubEvent, { rounds, microseconds }: Patience): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (let round = 0; round < rounds; round += 1) {
      const began = process.cpuUsage();
      let spent = 0;
      let times = 0;
      while (spent < microseconds) {
        await once(event);
        times += 1;
        const { user, system } = process.cpuUsage(began);
        spent = user + system;
      }
      least = Math.min(least, spent / times);
    }
    return least;
  }

  /** Of a well-behaved update of as many bytes; answers may have more than a message. */
  async function baseline(bytes: number): Promise<number> {
    if (bytes > largest) return ((await baseline(largest)) * bytes) / largest;
    const step = Math.round(2 ** (Math.floor(Math.log2(Math.max(256, bytes)) * 4) / 4));
    const known = baselines.get(step) ?? cost(honestUpdate(step), sure);
    baselines.set(step, known);
    return known;
  }

  return {
    async handle(which, event) {
      recipe = which;
      answers = [];
      await once(event);
      return answers.reduce((sum, bytes) => sum + bytes, 0);
    },

    async factorOf(which, event, patience) {
      recipe = undefined;
      let allowance = await baseline(receivedBytes(event));
      recipe = which;
      answers = [];
      await once(event);
      const sizes = answers;
      recipe = undefined;
      for (const bytes of sizes) allowance += await baseline(bytes);
      recipe = which;
      return (await cost(event, patience)) / allowance;
    },
    close: () => backends.close(),
  };
}

/** Bytes of a message that is measured; one beyond it would be refused. */
const largest = 250_000;

/** An update as devices send it: measured values with units. */
function honestUpdate(bytes: number): HubEvent {
  const properties = { ...requestProperties.V2('model.update'), objectId: pumpId };
  const empty = receivedBytes(
    hubEvent({ properties, body: '{"type":"pump","version":1,"properties":{"serial":"FP-1"}}' }),
  );
  const values: string[] = [];
  for (let left = bytes - empty; left > 44; left -= 44)
    values.push(`,"value${values.length % 90}":{"value":21.75,"unit":"°C"}`);
  return hubEvent({ properties, body: `{"type":"pump","version":1,"properties":{"serial":"FP-1"${values.join('')}}}` });
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
    const names = stored === 'as hostile' ? Array.from({ length: 3_000 }, (_, index) => `serial${index}`) : ['serial'];
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
