import { EventHubConsumerClient } from '@azure/event-hubs';
import { positionAnnotations } from 'iot-hub-emulator/testing';
import rhea from 'rhea';
import { describe, expect, it } from 'vitest';
import { demonstrate } from '../../sandbox/demonstration/demonstrate.ts';
import { envelope } from '../../sandbox/stories/wire.ts';
import { catalogue } from '../../src/messages/index.ts';
import { bodyOf, linesIn, nextAck, sandboxForAll } from './testSandbox.ts';

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

describe('A device that registers itself with model.create', () => {
  it('has its body passed to the information model byte for byte, except the generated object id {S1.1}', async () => {
    const body =
      '{ "model":"svc.device","type":"pump" ,"properties":{"serial":"B-1","runningHours":9007199254740993,"maximumPressure":1.0}}';
    const mark = sandbox.backends.journal.last;
    const device = await sandbox.connect('pump-2');
    await device.send(envelope('model.create', 'bytes'), Buffer.from(body));
    const { body: answer } = await nextAck(device);
    await device.close();
    const calls = sandbox.backends.calls({ since: mark, deviceId: 'pump-2' });
    const create = calls.find(({ method, path }) => method === 'POST' && path.startsWith('/object?'));
    expect(answer).toMatchObject({ success: true, code: 'ok' });
    expect(create?.body).toBe(body.replace('{', `{"objectId":"${answer.objectId}",`));
  });
  it('may have an id that looks like a path, without becoming another device', async () => {
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
});

describe('The service', () => {
  it('skips an event without the hub’s device stamp with a warning, and handles later ones {S2.1}', async () => {
    const properties = { ...envelope('model.create', 'forged'), 'iothub-connection-device-id': 'pump-1' };
    const body = Buffer.from(JSON.stringify({ model: 'svc.device', type: 'pump', properties: { serial: 'F-1' } }));
    for (const partition of sandbox.hub.partitions)
      partition.append((place) =>
        rhea.message.encode({
          message_annotations: positionAnnotations(place),
          application_properties: properties,
          body: rhea.message.data_section(body),
        }),
      );
    const device = await sandbox.connect('pump-1');
    await device.send(envelope('identity.update', 'genuine'), Buffer.from('{"publicKey":"k"}'));
    const { ack, notifications } = await nextAck(device);
    await device.close();

    expect([ack.properties['correlationId'], notifications]).toEqual(['genuine', []]);
    expect(sandbox.backends.calls().some(({ body }) => body?.includes('F-1'))).toBe(false);
    const log = linesIn(sandbox.state.service.logFile);
    const warnings = log.filter(({ msg }) => String(msg).includes('device stamp'));
    expect(warnings.map(({ level }) => level)).toContain('warn');
  });
  it('sends its replies with the unmodified service client, over TLS, under its own policy', async () => {
    const { environment } = sandbox.state.service;
    const port = new URL(`tls://${/HostName=([^;]+)/.exec(environment['HUB_SERVICE_CONNECTION_STRING'] ?? '')?.[1]}`)
      .port;
    expect(Number(port)).toBe(sandbox.hub.ports.amqps);
    const sent = sandbox.hub.journal.list({ kind: 'c2d' });
    expect(sent.length).toBeGreaterThan(0);
    expect(new Set(sent.map(({ policy }) => policy))).toEqual(new Set(['service']));
  });
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
