import { clientIdOf } from '../identity/registry.ts';
import { maxPayload } from '../methods/methods.ts';
import { type Json, numeric, writeJson } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';
import { refuseMethod } from './methodErrors.ts';
import { answerAsFaulted } from './methodFault.ts';
import { objectIn, type RestRequest, type Route } from './request.ts';

// IoT Hub: up to 128 printable ASCII characters without those that separate things in MQTT topics and HTTP headers
const validName = /^[!#%&'*+\-.0-9A-Z^_`a-z|~]{1,128}$/;
const meter = 4096;
const responseSeconds = { least: 5, most: 300, usual: 30 };
const connectSeconds = { least: 0, most: 300, usual: 0 };

const invoke = async (request: RestRequest) => {
  const { hub, device, module } = request;
  const { methodName, payload = null, responseTimeoutInSeconds, connectTimeoutInSeconds } = objectIn(request);
  if (typeof methodName !== 'string' || !validName.test(methodName))
    throw new Refusal('com.microsoft:argument-error', 'A method name has 1 to 128 characters that are allowed in one.');
  const bytes = Buffer.byteLength(writeJson(payload));
  if (bytes > maxPayload) throw new Refusal('com.microsoft:payload-too-large', 'The payload has more than 128 KB.');
  const responseTimeoutMs = milliseconds('responseTimeoutInSeconds', responseTimeoutInSeconds, responseSeconds);
  const connectTimeoutMs = milliseconds('connectTimeoutInSeconds', connectTimeoutInSeconds, connectSeconds);
  hub.throttle.take('method', Math.ceil(Math.max(bytes, 1) / meter));
  const call = { methodName, payload, responseTimeoutMs, connectTimeoutMs };
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
