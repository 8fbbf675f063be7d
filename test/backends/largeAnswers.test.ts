import { expect, it, vi } from 'vitest';
import { informationModel } from '../../src/backends/informationModel.ts';
import { createObjectReader } from '../../src/backends/objectOnBehalf.ts';
import { type Adapter, createLargeAnswer } from '../../src/backends/transport.ts';
import { courseOf } from '../support/observed.ts';
import { withFakeTimers } from '../support/waiting.ts';
import { callOf, openBackend } from './harness.ts';

withFakeTimers();

const objectId = '00000000-0000-4000-8000-000000000001';
const model = { objectId, model: 'svc.device', type: 'pump', version: 1 };

/** An information model whose answers each have room, and how often it was given back when they were read. */
function answering(data: string) {
  const released: boolean[] = [];
  const adapter: Adapter = async (config) =>
    ({
      ...{ status: 200, statusText: '', headers: {}, data: Buffer.from(data), config },
      release: () => void released.push(true),
    }) as never;
  const { backend, bind } = openBackend({ adapter });
  const readObject = createObjectReader(backend);
  return { backend, released, readObject, calls: informationModel(bind(callOf())) };
}

type Answering = ReturnType<typeof answering>;

const asCaller = ({ readObject }: Answering) =>
  readObject(objectId, 'svc.device', {
    ...{ token: 'theirs', isKnown: true, correlationId: 'c', observation: courseOf() },
    deadline: callOf().deadline,
  });

it.each<[what: string, data: string, use: (one: Answering) => unknown]>([
  ['has been read', JSON.stringify(model), ({ calls }) => calls.getModel(objectId, 'svc.device')],
  ['cannot be read', '{', ({ calls }) => calls.getModel(objectId, 'svc.device')],
  ['need not be read', '{}', ({ calls }) => calls.addReferences(objectId, 'svc.device', '[]')],
  ['has been read for a caller', JSON.stringify(model), asCaller],
  ['cannot be read for a caller', '[', asCaller],
  ['is that to a probe', '{}', ({ backend }) => backend.circuit.probeNow('a test')],
])('the room of an answer that %s is given back once', async (_, data, use) => {
  const one = answering(data);
  await Promise.resolve(use(one)).catch(() => undefined);
  await vi.waitUntil(() => one.released.length > 0);
  expect(one.released).toEqual([true]);
});

it('room that comes after the answer has broken off is given back at once', async () => {
  const given: number[] = [];
  let come = (_?: unknown) => {};
  const take = () =>
    new Promise((resolve) => {
      come = resolve;
    });
  const answer = createLargeAnswer({ take, shrink() {}, give: (bytes) => void given.push(bytes) }, 500);
  answer.release();
  expect(given).toEqual([]);
  come();
  await answer.waiting;
  expect(given).toEqual([1_000]);
});
