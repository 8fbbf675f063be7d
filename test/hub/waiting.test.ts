import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createBudget } from '../../src/engine/budget.ts';
import { backlogOf } from '../engine/support/partitions.ts';
import { passUntil, settle, waitingService } from './support/waitingService.ts';

// Messages that merely wait take nothing that a message needs which could begin. Time is the test's own.

type Service = ReturnType<typeof waitingService>;
const services: Service[] = [];
const setUp = (given?: Parameters<typeof waitingService>[0]) => {
  const service = waitingService(given);
  services.push(service);
  return service;
};
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(async () => void (await Promise.all(services.splice(0).map((service) => service.close()))));

const devices = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}${index}`);
const of = (handled: readonly string[], name: string) => handled.filter((one) => one.startsWith(name));
const numbers = (handled: readonly string[]) => handled.map((one) => Number(one.split(' ')[1]));

it('messages that wait for their device take no slots: with 32 hung devices of 16 messages each, 500 slots suffice for all others', async () => {
  const { budget, handled, admitAll, identityUpdate } = setUp({ maxMessages: 500 });
  const hung = Array.from({ length: 16 }, () => devices('hung', 32).map(identityUpdate)).flat();
  const isAdmitted = admitAll([...hung, ...devices('other', 200).map(identityUpdate)]);
  await settle();
  expect([isAdmitted(), of(handled, 'other').length, budget.inFlight().messages]).toEqual([true, 200, 32]);
});

describe('messages that wait for a backend', () => {
  it('do not block messages for other backends: 2,000 wait for the information model, and 50 are handled meanwhile', async () => {
    const { budget, backlog, handled, takeAway, bringBack, admitAll, modelUpdate, identityUpdate } = setUp();
    await takeAway('informationModel');
    const isAdmitted = admitAll([
      ...devices('model', 2_000).map(modelUpdate),
      ...devices('identity', 50).map(identityUpdate),
    ]);
    await settle();
    expect([isAdmitted(), handled.length, of(handled, 'identity').length]).toEqual([true, 50, 50]);
    expect([budget.inFlight().messages, backlog.taken().messages]).toEqual([0, 2_000]);
    await bringBack('informationModel');
    await passUntil(() => handled.length === 2_050);
    expect([budget.inFlight(), backlog.taken()]).toEqual([none, none]);
  });

  it('release their slots when it goes while they are in progress, and are handled when it is back', async () => {
    const { budget, backlog, handled, vanish, bringBack, admitAll, modelUpdate, identityUpdate } = setUp({
      maxMessages: 20,
    });
    vanish('informationModel');
    admitAll([...devices('model', 100).map(modelUpdate), ...devices('identity', 50).map(identityUpdate)]);
    await passUntil(() => of(handled, 'identity').length === 50);
    expect([of(handled, 'model'), budget.inFlight().messages]).toEqual([[], 0]);
    expect(budget.answering.inFlight().messages).toBeGreaterThan(0);
    await bringBack('informationModel');
    await passUntil(() => handled.length === 150);
    expect([budget.inFlight(), backlog.taken(), budget.answering.inFlight()]).toEqual([none, none, none]);
  });

  it('keep the order of their device', async () => {
    const { handled, takeAway, bringBack, admitAll, modelUpdate, identityUpdate } = setUp();
    await takeAway('informationModel');
    admitAll(Array.from({ length: 60 }, (_, index) => (index % 3 === 1 ? modelUpdate('a') : identityUpdate('a'))));
    await settle();
    expect(numbers(handled)).toEqual([1]);
    await bringBack('informationModel');
    await passUntil(() => handled.length === 60);
    expect(numbers(handled)).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
  });

  it('do not block a message whose own backend comes back while they fill the room', async () => {
    const { handled, takeAway, bringBack, admitAll, modelUpdate, identityUpdate } = setUp({
      maxMessages: 1,
      backlog: backlogOf(4),
    });
    await takeAway('informationModel');
    await takeAway('principalManager');
    admitAll([...devices('model', 2).map(modelUpdate), identityUpdate('other')]);
    await settle();
    await bringBack('principalManager');
    await settle();
    expect(handled).toEqual(['other 3']);
  });
});

describe('messages of which only replies are left to be sent', () => {
  it('release their slot, and keep their device’s lane', async () => {
    const { budget, handled, hear, admitAll, identityUpdate } = setUp({ maxMessages: 10 });
    admitAll([...devices('deaf', 10), 'deaf0', ...devices('other', 30)].map(identityUpdate));
    await settle();
    expect([of(handled, 'other').length, budget.inFlight()]).toEqual([30, none]);
    expect(budget.answering.inFlight().messages).toBe(10);
    hear();
    await settle();
    expect([of(handled, 'deaf').length, budget.answering.inFlight().messages]).toEqual([10, 1]);
    hear();
    await settle();
    expect([of(handled, 'deaf').length, budget.answering.inFlight()]).toEqual([11, none]);
  });

  it('keep their slots when the budget of replies has no room: that is the back-pressure', async () => {
    const { budget, handled, hear, admitAll, identityUpdate } = setUp({ maxMessages: 10 });
    const isAdmitted = admitAll([...devices('deaf', 20), 'other'].map(identityUpdate));
    await settle();
    expect([isAdmitted(), budget.inFlight().messages, budget.answering.inFlight().messages]).toEqual([false, 10, 10]);
    hear(11);
    await settle();
    expect([isAdmitted(), of(handled, 'other').length]).toEqual([true, 1]);
    hear();
    await settle();
    expect([budget.inFlight(), budget.answering.inFlight()]).toEqual([none, none]);
  });
});

it('draining begins no waiting message, and leaves no charge of it', async () => {
  const overall = createBudget({ maxMessages: 2, maxBytes: 1e6 });
  const [busy, draining] = [setUp({ overall }), setUp({ overall })];
  busy.admitAll(['hung1', 'hung2'].map(busy.identityUpdate));
  await draining.takeAway('informationModel');
  const isAdmitted = draining.admitAll([
    ...['model', 'model'].map(draining.modelUpdate),
    ...devices('other', 3).map(draining.identityUpdate),
  ]);
  await settle();
  expect([isAdmitted(), draining.backlog.taken().messages]).toEqual([false, 2]);
  expect(await draining.partition.drain(0)).toBe(2);
  await settle();
  expect([isAdmitted(), draining.budget.inFlight(), draining.backlog.taken()]).toEqual([true, none, none]);
  expect(overall.inFlight().messages).toBe(2);
  await draining.bringBack('informationModel');
  await settle();
  expect(draining.handled).toEqual([]);
});

const none = { messages: 0, bytes: 0 };
