import { describe, expect, it } from 'vitest';
import { createEnvelopeReader } from '../../src/protocol/envelope.ts';
import { textProperties } from '../../src/protocol/event.ts';
import { notify } from '../../src/protocol/reply.ts';

const eventId = '6f9619ff-8b86-5011-b42d-00cf4fc964ff';
const read = createEnvelopeReader({ defaultTimeoutSeconds: 300, maxTimeoutSeconds: 900 });
const envelopeOf = (id?: string, attempts = 0, event = eventId) =>
  read('V1', textProperties({ eventType: 'Svc.Device.SyncModel', id }), 'd1', event, attempts).envelope;

const created = 'Svc.InformationModel.ObjectModelCreated' as const;
const updated = 'Svc.InformationModel.ObjectModelUpdated' as const;
const body = Buffer.from('{}');
const about = { eventType: updated, deviceId: 'd2', target: 'edge', objectId: 'o1', model: 'svc.device', body };

describe('a notification', () => {
  it('has these properties and no others, and goes to the device that it names', () => {
    const reply = notify(envelopeOf('i1'), about);
    expect(reply).toMatchObject({ kind: 'notification', deviceId: 'd2', correlationId: 'i1', body: '{}' });
    expect(reply.properties).toEqual({
      ...{ 'svc-messagetype': 'platformEvent', eventType: updated, id: 'i1' },
      ...{ objectId: 'o1', model: 'svc.device', target: 'edge' },
    });
  });

  it('has no id when the request has none', () => {
    const reply = notify({ ...envelopeOf('i1'), correlationId: undefined }, about);
    expect(reply.properties).not.toHaveProperty('id');
  });

  it('has a message id derived from the event and the model (C1)', () => {
    const idOf = (more: Partial<Parameters<typeof notify>[1]>, envelope = envelopeOf('i1')) =>
      notify(envelope, { ...about, ...more }).messageId;
    const same = [{}, { objectId: 'O1' }, { eventType: created }, { body: Buffer.from('[]') }].map((one) => idOf(one));
    expect(new Set(same).size).toBe(1);
    const others = [
      idOf({ model: 'svc.configuration' }),
      idOf({ model: 'Svc.device' }),
      idOf({ objectId: 'o2' }),
      idOf({}, envelopeOf('i1', 1)),
      idOf({}, envelopeOf('i1', 0, eventId.replace('6f', '7f'))),
    ];
    expect(new Set([...same, ...others]).size).toBe(1 + others.length);
  });

  it.each(['é', 'two\r\nlines', 'x'.repeat(129)])(
    'has a correlation id like %j as application property only (C1)',
    (id) => {
      const reply = notify(envelopeOf(id), about);
      expect([reply.properties['id'], reply.correlationId]).toEqual([id, undefined]);
    },
  );
});
