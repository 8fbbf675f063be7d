import { clientIdOf } from '../identity/registry.ts';
import { type MethodCall, maxPayload } from '../methods/methods.ts';
import { type Json, type JsonObject, numeric, writeJson } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';
import { refuseMethod } from './methodErrors.ts';
import { answerAsFaulted } from './methodFault.ts';
import { objectIn, type RestRequest, type Route } from './request.ts';

// IoT Hub: up to 128 printable ASCII characters without those that separate things in MQTT topics and HTTP headers
const validName = /^[!#%&'*+\-.0-9A-Z^_`a-z|~]{1,128}$/;
const meter = 4096;
const responseSeconds = { least: 5, most: 300, usual: 30 };
const connectSeconds = { least: 0, most: 300, usual: 0 };

/** The method that a service wants called, and how many bytes it gives it. Refuses what no hub takes. */
export function methodCallIn(described: JsonObject): MethodCall & { readonly bytes: number } {
  const { methodName, payload = null, responseTimeoutInSeconds, connectTimeoutInSeconds } = described;
  if (typeof methodName !== 'string' || !validName.test(methodName))
    throw new Refusal('com.microsoft:argument-error', 'A method name has 1 to 128 characters that are allowed in one.');
  const bytes = Buffer.byteLength(writeJson(payload));
  if (bytes > maxPayload) throw new Refusal('com.microsoft:payload-too-large', 'The payload has more than 128 KB.');
  const responseTimeoutMs = milliseconds('responseTimeoutInSeconds', responseTimeoutInSeconds, responseSeconds);
  const connectTimeoutMs = milliseconds('connectTimeoutInSeconds', connectTimeoutInSeconds, connectSeconds);
  return { methodName, payload, responseTimeoutMs, connectTimeoutMs, bytes };
}

const invoke = async (request: RestRequest) => {
  const { hub, device, module } = request;
  const call = methodCallIn(objectIn(request));
  hub.throttle.take('method', Math.ceil(Math.max(call.bytes, 1) / meter));
  const { methodName } = call;
  const clientId = clientIdOf(device, module);
  return answerAsFaulted(hub.faults, { deviceId: device, methodName }, async () => {
    const { status, payload: answered } = await hub.methods.invoke(clientId, call);
    return { status: 200, text: `{"status":${status},"payload":${answered}}` };
  });
};

/** Direct methods of devices and modules. */
export const methodRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/twins/{device}/methods',
    rights: ['serviceConnect', 'methodInvoke'],
    handle: invoke,
    refuse: refuseMethod,
  },
  {
    method: 'POST',
    path: '/twins/{device}/modules/{module}/methods',
    rights: ['serviceConnect', 'methodInvoke'],
    handle: invoke,
    refuse: refuseMethod,
  },
];

function milliseconds(name: string, seconds: Json | undefined, { least, most, usual }: typeof responseSeconds): number {
  const value = numeric(seconds ?? usual);
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
    throw new Refusal('com.microsoft:argument-error', `${name} must be within [${least}; ${most}].`);
  return value * 1000;
}
