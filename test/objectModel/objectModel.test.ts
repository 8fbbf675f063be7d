import type { AxiosAdapter } from 'axios';
import { expect, it, onTestFinished } from 'vitest';
import { createBackends } from '../../src/backends/backends.ts';
import { collect } from '../../src/objectModel/collect.ts';
import { createRelatedModels } from '../../src/objectModel/storedModel.ts';
import { parseJson } from '../../src/protocol/json.ts';
import { callOf, rejection, settings } from '../backends/harness.ts';
import { dispatchEvent } from '../support/dispatching.ts';
import { hubEvent } from '../support/events.ts';
import { recordingLog } from '../support/observed.ts';
import { device, devicePrincipal, otherPumpId, problem, pumpAnswer, pumpId } from '../support/world.ts';

const objectIdOf = (name: string) => name.repeat(8).concat('-0000-4000-8000-000000000000');
const model = 'svc.device';

/** Which objects each object refers to. */
const references: Readonly<Record<string, string>> = { a: 'bcde', b: 'f', c: '12', e: '3' };

/** An information model that answers requests which come together in the reverse order. */
function answersBackwards() {
  const asked: (() => void)[] = [];
  function answerAll() {
    for (const answer of asked.splice(0).reverse()) answer();
  }
  const adapter: AxiosAdapter = async (config) => {
    if (asked.length === 0) setImmediate(answerAll);
    await new Promise<void>((resolve) => asked.push(resolve));
    const [, , objectId = '', , modelId = '', isOfReferences] = (config.url ?? '').split('/');
    const data = [...(references[objectId.charAt(0)] ?? '')].map((name) => ({
      name: 'feeds',
      to: { objectId: objectIdOf(name), model },
    }));
    const answer = isOfReferences ? { data } : { objectId, model: modelId, version: 1 };
    return { status: 200, statusText: '', headers: {}, data: Buffer.from(JSON.stringify(answer)), config };
  };
  const backends = createBackends({ ...settings, connections: 8 }, recordingLog(), { adapter });
  onTestFinished(() => backends.close());
  return backends.bind(callOf());
}

it('Each model gets its own answer, in the order of the references, for any order of answers', async () => {
  const request = {
    ...{ objectId: objectIdOf('a'), model, recursive: true, contained: false },
    ...{ hierarchical: true, references: new Set<string>(), related: new Set(['svc.history', 'svc.location']) },
  };
  const limits = { maxSyncModels: 200, maxSyncBytes: 1e6, maxReferences: 100 };
  const { models } = await collect(request, limits, answersBackwards(), { takeAll: () => undefined });
  const collected = models.map((one) => [one.objectId.charAt(0), one.model]);
  expect(collected).toEqual(
    [...'abcdef123'].flatMap((name) => [model, 'svc.history', 'svc.location'].map((each) => [name, each])),
  );
  const fetched = models.map(({ text }) => JSON.parse(String(text)));
  expect(fetched.map(({ objectId, model }) => [objectId.charAt(0), model])).toEqual(collected);
});

it('A message whose partition is lost while the parent is set is left to the next reader, although the model exists', async () => {
  const taken = new AbortController();
  const sent = hubEvent({
    properties: { 'svc-messagetype': 'platformEvent', eventType: 'Svc.Device.Created', id: 'c-1', ack: 'all' },
    body: { objectId: pumpId, type: 'pump', parent: { objectId: otherPumpId, reference: 'isPartOf' } },
  });
  const model = `/objects/${pumpId}/models/svc.device`;
  const handling = dispatchEvent(
    sent,
    [
      device,
      { call: `GET ${model}`, reply: problem(404, 'Not found') },
      { call: `POST /objects/${pumpId}?owner=${devicePrincipal}`, reply: [201, pumpAnswer()] },
      { call: `GET ${model}/references/out`, reply: problem(503, 'Busy'), onCall: () => taken.abort() },
    ],
    { ended: taken.signal },
  );
  expect(await handling).toMatchObject({ handled: false, replies: [], parked: [], logged: [] });
});

it('The details of related models are covered together, all of them when a value of the body spans some', () => {
  const covered = (redacted: (words: string) => string) => {
    const related = createRelatedModels({ maxRelatedModels: 3 });
    for (const details of ['of feed pump', '', 'at http://x'])
      related.take(parseJson(JSON.stringify({ model: 'm', success: false, code: 'c', details })));
    related.cover(redacted);
    return related.results.map(({ details }) => details);
  };
  expect(covered((words) => words.replace('feed pump', '…'))).toEqual(['of …', '', 'at …']);
  expect(covered((words) => words.replace('pump\0', '…'))).toEqual(['…', '', '…']);
});

it('What is kept of the results of related models is bounded, also where each is small enough', () => {
  const related = createRelatedModels({ maxRelatedModels: 3_000 });
  const one = parseJson(JSON.stringify({ model: 'x'.repeat(60_000), success: true, code: 'ok', details: '' }));
  for (let count = 0; count < 4; count += 1) related.take(one);
  return expect(rejection(Promise.resolve().then(() => related.take(one)))).resolves.toMatchObject({
    code: 'response_too_large',
    details: 'information model: the results of related models have more than 262144 characters',
  });
});
