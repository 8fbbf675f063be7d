import { membersOf } from './body.ts';
import type { StoredModel } from './createOrUpdate.ts';
import { systemId } from './fields.ts';
import { ask, type Expected, type Handling } from './steps.ts';

/** To whom a notification goes, and under which id. */
export interface Addressed {
  readonly deviceId: string;
  readonly id: Expected;
  readonly correlationId: Expected | undefined;
  readonly target: string;
}

/** One object model, as the backend gave it, unless it is larger than the hub carries (C3). */
export function* notify(to: Addressed, happened: 'Created' | 'Updated', text: string, isUnordered = false): Handling {
  const { objectId, model } = membersOf(text);
  if (Buffer.byteLength(text) > 65_000) return;
  yield {
    isUnordered,
    reply: {
      deviceId: to.deviceId,
      properties: {
        'svc-messagetype': 'platformEvent',
        eventType: `Svc.InformationModel.ObjectModel${happened}`,
        id: to.id,
        objectId: String(objectId),
        model: String(model),
        target: to.target,
      },
      correlationId: to.correlationId,
      isCompressed: false,
      body: { text },
    },
  };
}

/** A11, A12: the configuration goes to the device of its owner, or else of the object's; what `first` says goes before it. */
export function* publish(of: StoredModel, model: unknown, id: Expected, first: () => Handling = nothing): Handling {
  const path = ['objects', of.objectId, 'models', 'svc.configuration'];
  const isWanted = model === 'svc.device';
  const { status, body } = isWanted ? yield* ask({ method: 'GET', path }) : { status: 404, body: '' };
  yield* first();
  if (status !== 200) return;
  const { path: own } = membersOf(body);
  const [deviceId = '', ...names] = String(own || of.path || '').split('/');
  if (deviceId === '') return;
  const correlationId = typeof id === 'string' ? systemId(id) : id;
  const happened = of.createdModels.includes('svc.configuration') ? 'Created' : 'Updated';
  yield* notify({ deviceId, id, correlationId, target: names.join('/') }, happened, body);
}

function* nothing(): Handling {}
