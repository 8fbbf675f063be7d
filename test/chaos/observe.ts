import type { BackendCall } from '../../sandbox/backends/calls/calls.ts';
import { unpack } from '../../sandbox/terminal/showMessage.ts';
import { grouped } from '../support/observed.ts';
import { boundsOf, revocationsIn, unwrittenIn } from './bounds.ts';
import type { Effect, Handled, History, State, Subject, Told } from './history.ts';
import { partedBy } from './hubOrder.ts';
import { caughtInOutages } from './outages.ts';
import { idOf, type Message } from './sealed.ts';
import type { Devicebound, Stage } from './stage.ts';

export async function recordOutcome(
  stage: Stage,
  sent: readonly Message[],
  connected: readonly string[],
): Promise<History> {
  const calls = stage.backends.calls();
  const effects = effectsIn(calls, stage.hiding).map(({ id, key }) => ({ id, key }));
  const logs = await Promise.all(everybody(stage).map((instance) => instance.lines()));
  const struck = new Set([
    ...calls.flatMap(({ fault, headers }) => (fault ? [headers['x-correlation-id'] ?? ''] : [])),
    ...logs.flatMap(caughtInOutages),
  ]);
  const unplanned = logs.flatMap((own) => [...revocationsIn(own), ...unwrittenIn(own)]);
  const isTaken = ({ refused }: Devicebound) => refused === undefined;
  const letters = await stage.letters();
  const lines = await handledBy(stage);
  const traces = grouped(calls, ({ headers }) => headers['x-correlation-id'] ?? '');
  return {
    ...{ sent, connected, parted: partedBy(stage.failovers, calls), effects },
    told: stage.replies.filter(isTaken).map(toldBy),
    handled: lines,
    begun: new Map(
      [...traces].map(([id, own]) => [id, new Set(own.map(({ headers }) => headers['traceparent'])).size]),
    ),
    struck,
    refused: new Set([
      ...stage.replies.filter((reply) => !isTaken(reply)).map((reply) => toldBy(reply).id),
      ...stage.faulted,
    ]),
    unexecuted: await unexecutedIn(stage, sent),
    parked: new Set(letters.map(({ event: { properties } }) => idOf(properties))),
    state: statesOf(stage, sent),
    mostRepeats: await boundsOf({ ...stage, interruptions: [...stage.interruptions, ...unplanned] }, lines),
  };
}

/** In the order in which the calls arrived, with their positions in the journal. */
export const effectsIn = (
  calls: readonly BackendCall[],
  hiding: Stage['hiding'],
): readonly (Effect & { readonly position: number })[] =>
  calls.flatMap(({ backend, method, path, headers, answer, status, fault = '', position }) => {
    const isChange = backend !== 'token' && method !== 'GET' && !path.startsWith('/query');
    if (!isChange || !isSuccess(answer, status, hiding.has(fault))) return [];
    const { 'x-correlation-id': id = '', 'idempotency-key': key = '' } = headers;
    return [{ id, key: `${method} ${path} ${key}`, position }];
  });

const everybody = ({ instances, guest }: Stage) => [...instances, guest];

/** A line of the log about a handled message, and when it was written. */
export interface Line extends Handled {
  readonly at: number;
  /** Why each of the dropped replies was given up. */
  readonly reasons: readonly string[];
  readonly fields: Readonly<Record<string, unknown>>;
}

export const linesOf = async (stage: Stage): Promise<Record<string, unknown>[]> =>
  (await Promise.all(everybody(stage).map((instance) => instance.lines()))).flat();

export async function handledBy(stage: Stage): Promise<Line[]> {
  const lines = await linesOf(stage);
  const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  return lines.flatMap((fields): Line[] => {
    const { msg, time, correlationId, partition, code, dropped, remarks } = fields;
    if (msg !== 'handled') return [];
    const names = { id: String(correlationId), partition: String(partition), code: String(code) };
    const reasons = listOf(dropped).map((one) => String((one as { reason?: unknown }).reason));
    const counts = { dropped: reasons.length, remarks: listOf(remarks).length };
    return [{ ...names, ...counts, reasons, fields, at: Date.parse(String(time)) }];
  });
}

/** Messages that were parked because they had ended the process (G4). Two endpoints of a hub give the same numbers. */
async function unexecutedIn(stage: Stage, sent: readonly Message[]): Promise<Set<string>> {
  const keyOf = (device: unknown, partition: unknown, sequenceNumber: unknown) =>
    `${device} ${partition} ${sequenceNumber}`;
  const ids = new Map(
    sent.flatMap(({ id, deviceId }) =>
      (stage.places.get(id) ?? []).map(
        (place) => [keyOf(deviceId, place.partition, place.sequenceNumber), id] as const,
      ),
    ),
  );
  const lines = (await linesOf(stage)).filter(({ msg }) => String(msg).endsWith('parked without being executed'));
  return new Set(
    lines.map(({ device, partition, sequenceNumber }) => ids.get(keyOf(device, partition, sequenceNumber)) ?? 'nobody'),
  );
}

/** Whether a backend had its effect, even if nobody was told. */
function isSuccess(answer: string | null, status: number | null, isHidden: boolean): boolean {
  if (!answer) return status === 204 || isHidden;
  try {
    return !('errors' in JSON.parse(answer));
  } catch {
    return false;
  }
}

export const isAck = ({ properties }: Devicebound): boolean =>
  properties['msgType'] === 'ack' || properties['svc-messagetype'] === 'platformEventAck';

function toldBy(reply: Devicebound): Told {
  const { deviceId, system, properties, body } = reply;
  const said = JSON.parse(unpack({ properties, body }).toString('utf8'));
  const isNew = properties['eventType'] === 'Svc.InformationModel.ObjectModelCreated';
  const { objectId: object, model, version } = said as { objectId: string; model: Subject['model']; version: number };
  return {
    ...{ id: idOf(properties), deviceId, messageId: system.messageId ?? '' },
    ...(isAck(reply) ? { code: said.code, success: said.success } : { about: { object, model, version, isNew } }),
  };
}

/** What the backends hold of each device; messages leave their ids in it as marks. */
function statesOf({ backends: { world }, devices }: Stage, sent: readonly Message[]): Map<string, State> {
  const identities = grouped(world.principals.list(), ({ device }) => device);
  const objects = grouped(world.objects.list(), ({ owner }) => owner?.path);
  const types = grouped(world.types.list(), ({ typeId }) => typeId);
  const named = new Set(sent.flatMap(({ intent }) => ('object' in intent ? [intent.object] : [])));
  return new Map(
    devices.map((deviceId): [string, State] => {
      const [own, ...below] = identities.get(deviceId) ?? [];
      const key = own?.attributes.get('publicKey');
      const models = (objects.get(deviceId) ?? []).filter(({ model }) => model === 'svc.device');
      const marked = models.map((one) => {
        const { location, quantity } = JSON.parse(one.properties);
        return { ...one, mark: String(location ?? quantity) };
      });
      const ours = marked.filter(({ objectId }) => named.has(objectId));
      const references = ours.flatMap((one) =>
        world.objects.references
          .out(one)
          .map(({ to, attributes }) => [`${one.objectId} ${to.objectId}`, String(JSON.parse(attributes).by)] as const),
      );
      const defined = (types.get(`type-of-${deviceId}`) ?? []).map(
        ({ ref, text }) => [ref, String(JSON.parse(text).properties.by.description)] as const,
      );
      const state = {
        objects: Object.fromEntries(ours.map(({ objectId, version, mark }) => [objectId, { version, mark }])),
        anonymous: marked.filter((one) => !ours.includes(one)).map(({ mark }) => mark),
        references: Object.fromEntries(references),
        types: Object.fromEntries(defined),
        connected: below.map(({ identity }) => identity),
        identity: key === undefined ? undefined : String(JSON.parse(key)),
      };
      return [deviceId, state];
    }),
  );
}
