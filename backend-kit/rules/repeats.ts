import { randomUUID } from 'node:crypto';
import { Broken, equalId, expect, listOf } from '../expect.ts';
import { modelAt } from '../kit.ts';
import { query } from './lookUps.ts';
import { must, type Rule, should } from './rule.ts';

const repeats = 'The service reads back what a lost answer left, and decides by it; repeats after a crash are refused.';

/** Repeats: what a lost answer leaves behind. */
export const repeatRules: Rule[] = [
  should(
    'im.repeat.create',
    'A create that is repeated with its `idempotency-key` is answered as it was.',
    repeats,
  )(async (kit) => {
    const key = randomUUID();
    const { objectId, serial } = await kit.made({}, {}, { key });
    expect((await kit.post({ serial }, { objectId }, { key })).answer, 201, {
      objectId: equalId(objectId),
      version: 1,
    });
  }),
  should(
    'im.repeat.update',
    'An update that is repeated with its key is answered as it was, and made once.',
    repeats,
  )(async (kit) => {
    const { at: place, serial } = await kit.made();
    const body = { type: `${kit.run}-machine`, version: 1, properties: { serial, plant: kit.run } };
    const options = { body, key: randomUUID() };
    await kit.im('PUT', place, options);
    expect(await kit.im('PUT', place, options), 200, { version: 2 });
    expect(await kit.im('GET', place), 200, { version: 2 });
  }),
  should(
    'im.repeat.refusal',
    'A refusal is repeated as it was, also if the request would succeed by now.',
    'A device that was told of a failure finds its change there after a repeat.',
  )(async (kit) => {
    const { objectId, at: place, serial } = await kit.made();
    const options = {
      key: randomUUID(),
      body: { type: `${kit.run}-machine`, version: 2, properties: { serial, plant: kit.run } },
    };
    expect(await kit.im('PUT', place, options), 409);
    const between = { type: `${kit.run}-machine`, version: 1, properties: { serial, plant: kit.run } };
    expect(await kit.im('PUT', place, { body: between }), 200, { objectId: equalId(objectId) });
    expect(await kit.im('PUT', place, options), 409);
  }),
  should(
    'im.repeat.scope',
    'A key counts for its device alone.',
    'A device gets the answer to a request of another one.',
  )(async (kit) => {
    const key = randomUUID();
    const { objectId, serial } = await kit.made({}, {}, { key });
    const { answer } = await kit.post({ serial }, { objectId }, { key, device: kit.option('other-device') });
    if (answer.status < 400)
      throw new Broken(`another device’s request with the same key was answered with ${answer.status}`, answer);
  }),
  should(
    'im.repeat.reused',
    'A key that was used for another request: 422.',
    'A defect of the service that repeats keys stays unseen.',
  )(async (kit) => {
    const key = randomUUID();
    const { at: place } = await kit.made({}, {}, { key });
    expect(await kit.im('PUT', `${place}/owner`, { body: { ownerId: await kit.owner() }, key }), 422);
  }),
  must(
    'im.lost.create',
    'After a create whose answer was lost, a repeat is answered with 201, or with 409 and `meta`, and the object model is there once with type and owner.',
    'The device gets `http_response_error` for what succeeded, or has two objects.',
  )(async (kit) => {
    const [key, objectId, serial] = [randomUUID(), randomUUID(), kit.fresh()];
    await kit.post({ serial }, { objectId }, { key, losesAnswer: true });
    kit.left.objects.add(objectId);
    const { answer } = await kit.post({ serial }, { objectId }, { key });
    expect(answer, [201, 409], answer.status === 409 ? { 'errors.0.meta.objectId': equalId(objectId) } : {});
    expect(await kit.im('GET', modelAt(objectId)), 200, { ownerId: equalId(await kit.owner()), version: 1 });
    expect(await query(kit, { serial, plant: kit.run }), 200, { data: listOf(1) });
  }),
  must(
    'im.lost.update',
    'After an update whose answer was lost, the object model is read with its content and the next version.',
    'The device gets a version mismatch for its own update.',
  )(async (kit) => {
    const { at: place, serial } = await kit.made();
    const properties = { serial, plant: kit.run, label: 'sent' };
    await kit.im('PUT', place, { losesAnswer: true, body: { type: `${kit.run}-machine`, version: 1, properties } });
    expect(await kit.im('GET', place), 200, { version: 2, properties });
  }),
];
