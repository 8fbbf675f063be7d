import type device from 'azure-iot-device';
import { client, type Fact, inference, pages, thread } from '../fact.ts';
import { holds, same } from '../lab/differs.ts';
import type { Lab } from '../lab/lab.ts';
import { type Refused, refusalOf } from '../lab/refusal.ts';
import { within } from '../lab/within.ts';

// Direct methods.

const needs = ['methods'] as const;

/** A device that answers the method `echo`, and never answers `silence`. */
async function listening(lab: Lab) {
  const specimen = await lab.specimen();
  const connection = await lab.connected(specimen, 'mqtt', (one) => {
    one.onDeviceMethod('echo', (request: device.DeviceMethodRequest, response: device.DeviceMethodResponse) => {
      void response.send(201, { got: request.payload });
    });
    one.onDeviceMethod('silence', () => undefined);
  });
  await connection.getTwin(); // the hub takes packets in order: now it knows that the device listens
  return specimen;
}

interface Call {
  readonly methodName?: string;
  readonly payload?: unknown;
  readonly responseTimeoutInSeconds?: number;
}

async function invoke(lab: Lab, deviceId: string, call: Call): Promise<unknown> {
  const service = await lab.openService();
  const { result } = await service.invokeDeviceMethod(deviceId, {
    methodName: 'echo',
    connectTimeoutInSeconds: 0,
    ...call,
  });
  return result;
}

/** The hub's refusal, with the code in the JSON inside the JSON. */
async function failure(lab: Lab, deviceId: string, call: Call = {}) {
  const found = await within('the answer', refusalOf(invoke(lab, deviceId, call)));
  return { status: found?.status, ...detailsOf(found) };
}

function detailsOf(found: Refused | undefined): { readonly code?: unknown; readonly says?: unknown } {
  try {
    const { errorCode: code, message: says } = JSON.parse(JSON.parse(found?.body ?? '').Message);
    return { code, says };
  } catch {
    return {};
  }
}

const refused = (call: Call, status: number, code: number | undefined, to: 'listening' | 'absent' = 'listening') => ({
  needs,
  async run(lab: Lab) {
    const { deviceId } = to === 'listening' ? await lab.shared(listening) : await lab.specimen();
    const found = await failure(lab, deviceId, call);
    same('the status', found.status, status);
    if (code !== undefined) same('the code', found.code, code);
  },
});

export const methodFacts: readonly Fact[] = [
  {
    id: 'methods.answer',
    says: 'A method is answered with the status and the payload of the device.',
    sources: [pages.methods],
    check: {
      needs,
      async run(lab) {
        const { deviceId } = await lab.shared(listening);
        const answer = await within('the answer', invoke(lab, deviceId, { payload: { speed: 3 } }));
        same('the answer', answer, { status: 201, payload: { got: { speed: 3 } } });
      },
    },
  },
  {
    id: 'methods.offline',
    says: 'To a device that is not connected, or listens to no methods, a call is refused at once: 404 with 404103.',
    sources: [pages.errors, client('`azure-iothub`: `connectTimeoutInSeconds` of 0 is its default')],
    check: {
      needs,
      async run(lab) {
        const { deviceId } = await lab.specimen();
        const began = performance.now();
        same('the status', (await failure(lab, deviceId)).status, 404);
        const ms = Math.round(performance.now() - began);
        holds('milliseconds until the answer', ms < 5000, ms);
      },
    },
  },
  {
    id: 'methods.error-form',
    says: 'A refusal is JSON with an `errorCode`, in a text in JSON: `{"Message":"{\\"errorCode\\":404103,…}"}`. The client cannot read it, and has a plain error.',
    sources: [thread('Azure/iotedge#98'), thread('Azure/azure-iot-sdk-java#640')],
    check: {
      needs,
      async run(lab) {
        const { deviceId } = await lab.specimen();
        same('the code', (await failure(lab, deviceId)).code, 404103);
      },
    },
  },
  {
    id: 'methods.unknown',
    says: 'To a device that is not in the registry, or is disabled: 404 with 404001.',
    sources: [pages.errors],
    check: {
      needs,
      async run(lab) {
        const codesTo = async (deviceId: string) => {
          const { status, code } = await failure(lab, deviceId);
          return [status, code];
        };
        same('the codes', await codesTo(`${lab.run}-none`), [404, 404001]);
        const { deviceId } = await lab.specimen({ status: 'disabled' });
        same('the codes of a disabled one', await codesTo(deviceId), [404, 404001]);
      },
    },
  },
  {
    id: 'methods.silent',
    says: 'A device that does not answer in the time of the call: 504 with 504101.',
    sources: [pages.errors],
    check: refused({ methodName: 'silence', responseTimeoutInSeconds: 5 }, 504, 504101),
  },
  {
    id: 'methods.time',
    says: '`responseTimeoutInSeconds` is 5 to 300; another one is refused with 400.',
    sources: [thread('Azure/azure-iot-sdk-csharp#724', '“must be within [5; 300]”'), pages.methods],
    check: refused({ responseTimeoutInSeconds: 4 }, 400, undefined),
    noOtherWay: 'a page has the same limits, and the front door asks for no others',
  },
  {
    id: 'methods.payload',
    says: 'A payload over 128 KB is refused with 400.',
    sources: [pages.methods, inference('the status')],
    check: refused({ payload: 'x'.repeat(129 * 1024) }, 400, undefined),
  },
  {
    id: 'methods.name',
    says: 'A name with a slash, or another of ``$()<>@,;:\\"/[]?={}`` and spaces, is refused with 400.',
    sources: [pages.methods],
    check: refused({ methodName: 'a/b' }, 400, undefined),
  },
  {
    id: 'methods.codes',
    says: 'An answer that is not JSON, in UTF-8 and of 128 KB at most, is 502 with 502001, and a call with a wrong key 401 with 401002.',
    sources: [inference('the statuses are those of “Error codes”, the numbers follow their pattern')],
    check: {
      needs,
      async run(lab) {
        const { deviceId } = await lab.specimen();
        const wrong = lab.service(wrongKey(lab.target.hub));
        const found = await refusalOf(wrong.invokeDeviceMethod(deviceId, { methodName: 'echo' }));
        same('the status with a wrong key', found?.status, 401);
        const { code } = detailsOf(found);
        if (code !== undefined) same('the code', code, 401002);
      },
    },
  },
  {
    id: 'methods.at-once',
    says: 'A device has a limit of calls at once: 403 with 403800. The client calls every 403 `TooManyDevicesError`.',
    sources: [pages.errors, client('`azure-iothub`, `rest_api_client.js`')],
    check: 'the limit is not published: finding it would take the device’s services',
  },
  {
    id: 'methods.rate',
    says: 'Calls are metered in 4 KB: S1 160 KB, S2 480 KB, S3 24 MB a second for each unit; then 429.',
    sources: [pages.quotas],
    check: 'would throttle the services of the hub',
  },
  {
    id: 'methods.retries',
    says: '504 leaves open whether the device got the call. The client repeats 429, 500, 503 and lost connections for four minutes unless it is told not to.',
    sources: [pages.errors, client('`azure-iothub`, `retry_operation.js`')],
    check: 'follows from no answer of the hub',
  },
];

export const wrongKey = (connectionString: string): string =>
  connectionString.replace(/SharedAccessKey=[^;]+/, 'SharedAccessKey=d3Jvbmcga2V5IQ==');
