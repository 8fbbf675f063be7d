import type { Uploads } from '../uploads/uploads.ts';
import { isObject, type JsonObject, parseJson } from '../values/json.ts';
import { Refusal } from '../values/refusal.ts';
import type { DeviceRequest, DeviceRoute, RestAnswer } from './request.ts';

function uploadsOf({ hub }: DeviceRequest): Uploads {
  if (!hub.uploads) throw new Refusal('amqp:not-implemented', 'This hub was started without a storage account.');
  return hub.uploads;
}

function objectOf({ body }: DeviceRequest): JsonObject {
  const described = parseJson(body.toString('utf8'));
  if (!isObject(described)) throw new Refusal('com.microsoft:argument-error', 'The body is a JSON object.');
  return described;
}

const begin = (asked: DeviceRequest): RestAnswer => {
  const { blobName } = objectOf(asked);
  const grant = uploadsOf(asked).begin(asked.login.identity.deviceId, typeof blobName === 'string' ? blobName : '');
  return { status: 200, body: { ...grant } };
};

/** The correlation id is in the path, or in the body. */
const end = async (asked: DeviceRequest): Promise<RestAnswer> => {
  const { correlationId, isSuccess } = objectOf(asked);
  const id = asked.subject || (typeof correlationId === 'string' ? correlationId : '');
  await uploadsOf(asked).end(asked.login.identity.deviceId, id, isSuccess === true);
  return { status: 204 };
};

/** How a device uploads a file: past the hub, which lets it, and is told how it ended. */
export const uploadRoutes: readonly DeviceRoute[] = [
  { method: 'POST', path: '/devices/{device}/files', handle: begin },
  { method: 'POST', path: '/devices/{device}/files/notifications', handle: end },
  { method: 'POST', path: '/devices/{device}/files/notifications/{subject}', handle: end },
];
