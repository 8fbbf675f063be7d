import { unpack } from '../../sandbox/showMessage.ts';
import type { Effect, Handled, History, State, Told } from './history.ts';
import type { Devicebound, Stage } from './stage.ts';
import type { Message } from './workload.ts';

/** Puts together what was seen of a run. */
export async function observe(stage: Stage, sent: readonly Message[], mostRepeats: number): Promise<History> {
  const calls = stage.backends.journal.entries();
  const effects = calls.flatMap(({ backend, method, path, headers, answer, status }): Effect[] => {
    const isChange = backend !== 'token' && method !== 'GET' && !path.startsWith('/query');
    if (!isChange || !isSuccess(answer, status)) return [];
    const { 'x-correlation-id': id = '', 'idempotency-key': key = '' } = headers;
    return [{ id, key: `${method} ${path} ${key}` }];
  });
  const struck = new Set(calls.flatMap(({ fault, headers }) => (fault ? [headers['x-correlation-id'] ?? ''] : [])));
  const isTaken = ({ refused }: Devicebound) => refused === undefined;
  const letters = (await Promise.all(everybody(stage).map((instance) => instance.letters()))).flat();
  return {
    sent,
    effects,
    told: stage.replies.filter(isTaken).map(toldBy),
    handled: await handledBy(stage),
    struck,
    refused: new Set([
      ...stage.replies.filter((reply) => !isTaken(reply)).map((reply) => toldBy(reply).id),
      ...sent.filter(({ deviceId }) => stage.mistreated.has(deviceId)).map(({ id }) => id),
    ]),
    parked: new Set(letters.map(({ event: { properties } }) => properties['correlationId'] ?? properties['id'] ?? '')),
    state: statesOf(stage),
    mostRepeats,
  };
}

const everybody = ({ instances, guest }: Stage) => [...instances, guest];

/** What the instances have logged as handled. */
export async function handledBy(stage: Stage): Promise<Handled[]> {
  const lines = (await Promise.all(everybody(stage).map((instance) => instance.lines()))).flat();
  const count = (list: unknown) => (Array.isArray(list) ? list.length : 0);
  return lines.flatMap(({ msg, correlationId, code, dropped, remarks }) =>
    msg === 'handled'
      ? [{ id: String(correlationId), code: String(code), dropped: count(dropped), remarks: count(remarks) }]
      : [],
  );
}

/** Whether a backend had its effect, even if nobody was told. */
function isSuccess(answer: string | null, status: number | null): boolean {
  if (answer === null) return status === 204;
  try {
    return !('errors' in JSON.parse(answer));
  } catch {
    return false;
  }
}

function toldBy({ deviceId, system, properties, body }: Devicebound): Told {
  const isAck = properties['msgType'] === 'ack' || properties['svc-messagetype'] === 'platformEventAck';
  const { code, success } = isAck ? JSON.parse(unpack({ properties, body }).toString('utf8')) : {};
  return {
    id: properties['correlationId'] ?? properties['id'] ?? '',
    deviceId,
    messageId: system.messageId ?? '',
    kind: isAck ? 'acknowledgement' : 'notification',
    code,
    success,
  };
}

/** Objects and identities of each device; messages leave their ids in them as marks. */
function statesOf({ backends: { world }, devices }: Stage): Map<string, State> {
  const identities = new Map(world.principals.list().map(({ path, attributes }) => [path, attributes]));
  const states = new Map(
    devices.map((deviceId) => {
      const key = identities.get(deviceId)?.get('publicKey');
      const identity: string | undefined = key === undefined ? undefined : JSON.parse(key);
      return [
        deviceId,
        { objects: {} as Record<string, State['objects'][string]>, anonymous: [] as string[], identity },
      ];
    }),
  );
  for (const { owner, type, model, objectId, version, properties } of world.objects.list()) {
    const state = states.get(owner?.path ?? '');
    if (state === undefined || model !== 'svc.device') continue;
    const { location, quantity } = JSON.parse(properties);
    if (type.typeId === 'sensor') state.anonymous.push(quantity);
    else state.objects[objectId] = { version, mark: location };
  }
  return states;
}
