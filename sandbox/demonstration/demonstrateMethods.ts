import type { Device } from '../device/device.ts';
import type { SeenRequest } from '../edge/modules.ts';
import { callFrontDoor, type Exchange } from '../invoke/call.ts';
import { type FoundObject, findObject } from '../invoke/find.ts';
import { silent } from '../print.ts';
import type { Sandbox } from '../sandbox.ts';
import { edgeMethods } from './chapters/edge.ts';
import { methods } from './chapters/methods.ts';
import { DemonstrationFailed, type DemonstrationOptions } from './demonstrate.ts';
import type { Invocation, Received } from './invocation.ts';
import { differences } from './pattern.ts';
import { showInvocation } from './showInvocation.ts';

/** What happened in one invocation, seen from the application and from the device. */
export interface Invoked {
  invocation: Invocation;
  object: Partial<FoundObject>;
  body: string;
  exchange: Exchange;
  /** What the device was asked with and what it said; more than one would be one too many. */
  asked: { payload: unknown; answer: unknown }[];
  /** What modules of the edge device were asked with, and replied. */
  handed: readonly SeenRequest[];
  /** How this differs from what is expected; empty when it does not. */
  problems: string[];
}

const model = 'svc.device';

/** Has an application invoke methods of devices of the sandbox, and prints what both see. Rejects with `DemonstrationFailed`. */
export async function demonstrateMethods(
  sandbox: Sandbox,
  { printer = silent, waitMs = 15_000, signal }: DemonstrationOptions = {},
): Promise<Invoked[]> {
  const devices = new Map<string, Device>();
  const results: Invoked[] = [];
  const hangUp = () => Promise.all([...devices.values()].map((device) => device.close()));
  signal?.addEventListener('abort', hangUp);
  let current: { invocation: Invocation; asked: Invoked['asked'] } | undefined;

  async function connect(id: string): Promise<void> {
    if (devices.has(id)) return;
    const device = await sandbox.connect(id);
    devices.set(id, device);
    await device.onMethod('invokeMethod', async (payload, send) => {
      const { answer } = current?.invocation.device ?? {};
      const said = answer
        ? await answer(Object(payload) as Received)
        : { status: 404, payload: { detail: 'uncalled for' } };
      current?.asked.push({ payload, answer: said.payload });
      await send(said.status, said.payload);
    });
  }

  try {
    for (const invocation of [...methods, ...(sandbox.edge ? edgeMethods : [])]) {
      signal?.throwIfAborted();
      if (invocation.device) await connect(invocation.device.id);
      const asked: Invoked['asked'] = [];
      current = { invocation, asked };
      const result = await perform(invocation, asked, sandbox, waitMs);
      results.push(result);
      showInvocation(result, printer);
      const { problems } = result;
      if (problems.length > 0) throw new DemonstrationFailed(invocation.title, problems);
    }
    return results;
  } finally {
    signal?.removeEventListener('abort', hangUp);
    await hangUp();
  }
}

async function perform(
  invocation: Invocation,
  asked: Invoked['asked'],
  { state, hub, edge }: Sandbox,
  waitMs: number,
): Promise<Invoked> {
  const { caller = 'invoker', method, expected, device, module, fault } = invocation;
  const object = await findObject(state, invocation.object, model);
  const body = JSON.stringify(invocation.body ?? {});
  const token = state.methods?.tokens[caller];
  if (fault) hub.faults.add(fault);
  const before = edge?.seen.length ?? 0;
  const exchange = await callFrontDoor(state, { objectId: object.objectId, model, method, token, body }, waitMs);

  const handed = edge?.seen.slice(before) ?? [];
  const common = { correlationId: exchange.correlationId, objectId: object.objectId, model, method };
  const payloads = device ? [{ ...common, ...device.receives }] : [];
  const problems = [
    ...differences(exchange.status, expected.status, 'status'),
    ...differences(JSON.parse(exchange.answer), expected.body, 'body'),
    ...Object.entries({ 'x-correlation-id': exchange.correlationId, ...expected.headers }).flatMap(([name, pattern]) =>
      differences(exchange.headers.get(name), pattern, name),
    ),
    ...differences(
      asked.map(({ payload }) => payload),
      payloads,
      'what the device was asked',
    ),
    ...differences(
      handed.map(({ module: id, topic, payload }) => ({ id, topic, payload: payload && JSON.parse(payload) })),
      module ? [module] : [],
      'what modules were asked',
    ),
  ];
  return { invocation, object, body, exchange, asked, handed, problems };
}
