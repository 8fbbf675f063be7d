import type { AxiosAdapter } from 'axios';
import { expect, it, onTestFinished } from 'vitest';
import { createBackends } from '../../src/backends/backends.ts';
import { collect } from '../../src/objectModel/collect.ts';
import { callOf, settings } from '../backends/harness.ts';
import { recordingLog } from '../support/observed.ts';

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
  const { models } = await collect(request, limits, answersBackwards());
  const collected = models.map((one) => [one.objectId.charAt(0), one.model]);
  expect(collected).toEqual(
    [...'abcdef123'].flatMap((name) => [model, 'svc.history', 'svc.location'].map((each) => [name, each])),
  );
  const fetched = models.map(({ text }) => JSON.parse(text));
  expect(fetched.map(({ objectId, model }) => [objectId.charAt(0), model])).toEqual(collected);
});
