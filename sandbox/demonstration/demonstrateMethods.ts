import { callFrontDoor } from '../invoke/call.ts';
import { findObject } from '../invoke/find.ts';
import { differences } from '../stories/pattern.ts';
import { silent } from '../terminal/print.ts';
import { DemonstrationFailed, type DemonstrationOptions } from './demonstrate.ts';
import { withDevices } from './devices.ts';
import { edgeMethods } from './edgeMethods.ts';
import type { DemonstratedSandbox } from './exchange.ts';
import type { Invocation, InvocationResult, ReceivedPayload } from './invocation.ts';
import { methods } from './methods.ts';
import { showInvocation } from './showInvocation.ts';

const model = 'svc.device';
const unexpected = { status: 404, payload: { detail: 'the demonstration does not expect this invocation' } };

/** Has an application invoke methods of devices of the sandbox, and prints what both see. Rejects with `DemonstrationFailed`. */
export async function demonstrateMethods(
  sandbox: DemonstratedSandbox,
  { printer = silent, tell, waitMs = 15_000, signal }: DemonstrationOptions = {},
): Promise<InvocationResult[]> {
  return withDevices(sandbox, signal, async (connect, connected) => {
    const results: InvocationResult[] = [];
    let current: { invocation: Invocation; deviceCalls: InvocationResult['deviceCalls'] } | undefined;

    async function listen(id: string): Promise<void> {
      if (connected.has(id)) return;
      const device = await connect(id);
      await device.onMethod('invokeMethod', async (payload, send) => {
        const answer = (await current?.invocation.device?.answer(Object(payload) as ReceivedPayload)) ?? unexpected;
        current?.deviceCalls.push({ payload, answer: answer.payload });
        await send(answer.status, answer.payload);
      });
    }

    for (const invocation of [...methods, ...(sandbox.edge ? edgeMethods : [])]) {
      signal?.throwIfAborted();
      if (invocation.device) await listen(invocation.device.id);
      const deviceCalls: InvocationResult['deviceCalls'] = [];
      current = { invocation, deviceCalls };
      const since = sandbox.hub.journal.last;
      const result = await perform(invocation, deviceCalls, sandbox, waitMs);
      results.push(result);
      const { correlationId, status } = result.exchange;
      const [asked] = sandbox.hub.journal.list({ since, correlationId });
      const { title, method } = invocation;
      if (asked) tell?.({ position: asked.position, title, method, status, problems: result.problems });
      showInvocation(result, printer);
      const { problems } = result;
      if (problems.length > 0) throw new DemonstrationFailed(invocation.title, problems);
    }
    return results;
  });
}

async function perform(
  invocation: Invocation,
  deviceCalls: InvocationResult['deviceCalls'],
  { state, hub, edge }: DemonstratedSandbox,
  waitMs: number,
): Promise<InvocationResult> {
  const { caller = 'invoker', method, expected, device, module, fault } = invocation;
  const object = await findObject(state, invocation.object, model);
  const body = JSON.stringify(invocation.body ?? {});
  const token = state.methods?.tokens[caller];
  if (fault) hub.faults.add(fault);
  const before = edge?.requests.length ?? 0;
  const exchange = await callFrontDoor(state, { objectId: object.objectId, model, method, token, body }, waitMs);

  const moduleRequests = edge?.requests.slice(before) ?? [];
  const common = { correlationId: exchange.correlationId, objectId: object.objectId, model, method };
  const payloads = device ? [{ ...common, ...device.receives }] : [];
  const problems = [
    ...differences(exchange.status, expected.status, 'status'),
    ...differences(JSON.parse(exchange.answer), expected.body, 'body'),
    ...Object.entries({ 'x-correlation-id': exchange.correlationId, ...expected.headers }).flatMap(([name, pattern]) =>
      differences(exchange.headers.get(name), pattern, name),
    ),
    ...differences(
      deviceCalls.map(({ payload }) => payload),
      payloads,
      'what the device received',
    ),
    ...differences(
      moduleRequests.map(({ module: id, topic, payload }) => ({ id, topic, payload: payload && JSON.parse(payload) })),
      module ? [module] : [],
      'what modules received',
    ),
  ];
  return { invocation, object, body, exchange, deviceCalls, moduleRequests, problems };
}
