import { EventHubConsumerClient } from '@azure/event-hubs';
import { expect, it } from 'vitest';
import { demonstrate } from '../../sandbox/demonstration/demonstrate.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { catalogue } from '../../src/messages/index.ts';
import { bodyOf, nextAck, sandboxForAll } from './testSandbox.ts';

const sandbox = sandboxForAll();

it('The demonstration shows every message of the catalogue with at least one success, and all replies come from the service {S1.2}', async () => {
  const exchanges = await demonstrate(sandbox);
  expect(exchanges.map(({ problems }) => problems)).toEqual(exchanges.map(() => []));
  const successful = exchanges.filter(({ replies }) => {
    const { success } = bodyOf(replies.at(-1) ?? fail()) as { success?: boolean };
    return success;
  });
  const shown = successful.map(({ sent: { properties } }) => properties['action'] ?? properties['eventType']);
  expect(new Set(shown)).toEqual(new Set(catalogue.map(({ name }) => name)));
});

it('Others read the events beside the service, in the group that the sandbox has for them', async () => {
  const { eventsConnectionString } = sandbox.state.hub;
  const reader = new EventHubConsumerClient('other', eventsConnectionString);
  const body = await new Promise((resolve, reject) => {
    const handlers = {
      processEvents: async ([event]: readonly { body: unknown }[]) => (event ? resolve(event.body) : undefined),
      processError: async (error: Error) => reject(error),
    };
    reader.subscribe(handlers, { startPosition: { offset: '-1' } });
  });
  await reader.close();
  expect(body).toBeDefined();
});

it('A device may have an id that looks like a path, without becoming another device', async () => {
  for (const id of ['pump%2F..%2Frival-1', "a:b@c=$(d)'?*", '%00', '...']) {
    const device = await sandbox.connect(id);
    const pump = { model: 'svc.device', type: 'pump', properties: { serial: id } };
    await device.send(envelope('model.create', `hostile ${id}`), Buffer.from(JSON.stringify(pump)));
    const { ack, body, notifications } = await nextAck(device);
    await device.close();
    expect(body, id).toMatchObject({ success: true, code: 'ok' });
    expect(ack.properties['correlationId']).toBe(`hostile ${id}`);
    expect(bodyOf(notifications[0] ?? fail())).toMatchObject({ path: id });
  }
});

it('The journal shows one message live: device, backends, reply', async () => {
  const away = new AbortController();
  const url = new URL('/journal/stream?correlationId=one%20way', sandbox.hub.adminUrl);
  const stream = await fetch(url, { signal: away.signal });
  const device = await sandbox.connect('pump-1');
  await device.send(envelope('identity.update', 'one way'), Buffer.from('{"publicKey":"k"}'));
  await nextAck(device);
  let seen = '';
  for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    seen += chunk;
    if (seen.includes('"c2d-settled"')) break;
  }
  away.abort();
  await device.close();
  const kinds = [...seen.matchAll(/"kind":"([^"]+)"/g)].map(([, kind]) => kind);
  expect([kinds[0], ...kinds.slice(-3)]).toEqual(['d2c', 'c2d', 'c2d-delivered', 'c2d-settled']);
  expect(new Set(kinds.slice(1, -3))).toEqual(new Set(['http-request', 'http-response']));
});

function fail(): never {
  throw new Error('nothing there');
}
