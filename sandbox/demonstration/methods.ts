import type { Pattern } from '../stories/pattern.ts';
import type { Invocation, ReceivedPayload } from './invocation.ts';

/** The body of a failure; the `meta` is for programs. */
const failure = (status: number, detail: RegExp): Invocation['expected'] => ({
  status,
  body: {
    errors: [
      {
        ...{ code: String(status), title: /./, detail, id: /^[\w-]{36}$/ },
        meta: { reason: /^\w+$/, invoked: status === 504 ? 'unknown' : 'no' },
      },
    ],
  },
});

/** An invocation that is refused: of `stop` of motor-1 unless given, and shown in few lines. */
const refusal = (
  title: string,
  status: number,
  detail: RegExp,
  { headers, ...more }: Partial<Invocation> & Pick<Invocation['expected'], 'headers'>,
): Invocation => ({
  ...{ title, object: 'motor-1', method: 'stop', isRepeat: true, ...more },
  expected: { ...failure(status, detail), ...(headers && { headers }) },
});

/** The answer of a device that ran the method. */
const done = (status = 200, output?: unknown) => ({
  status: 200,
  payload: { status, ...(output !== undefined && { output }) },
});

const file = (bytes: number): Pattern => ({ url: /^http:.*\bsig=/, bytes, etag: /./ });

async function fetched({ files = {} }: ReceivedPayload, name: string): Promise<string> {
  const response = await fetch(files[name]?.url ?? '');
  return response.text();
}

const everything = { label: 'Hall 4', rpm: 1450, torque: 12.5, reverse: false, curve: 'curves/soft-start.json' };

/** Invocations of remote methods, as the application and the device see them. */
export const methods: readonly Invocation[] = [
  {
    title: 'An application stops a motor: a method without inputs',
    object: 'motor-1',
    method: 'stop',
    device: { id: 'motor-1', receives: { target: '', timeout: 30 }, answer: () => done() },
    expected: { status: 200, body: { status: 200 } },
  },
  {
    title: 'It sets everything that can be set: inputs of all five data types, a file among them',
    object: 'motor-1',
    method: 'configure',
    body: { input: everything, timeout: 20 },
    device: {
      id: 'motor-1',
      receives: { target: '', timeout: 20, input: everything, files: { curve: file(41) } },
      answer: async (payload) => done(200, { curve: JSON.parse(await fetched(payload, 'curve')) }),
    },
    expected: {
      status: 200,
      body: { status: 200, output: { curve: { seconds: [0, 2, 5], percent: [0, 30, 100] } } },
    },
  },
  {
    title: 'It leaves out inputs: the device gets those that are given',
    object: 'motor-1',
    method: 'configure',
    body: { input: { rpm: 900 } },
    device: {
      id: 'motor-1',
      receives: { target: '', timeout: 30, input: { rpm: 900 } },
      answer: ({ input }) => done(200, { set: Object.keys(input ?? {}) }),
    },
    expected: { status: 200, body: { status: 200, output: { set: ['rpm'] } } },
    isRepeat: true,
  },
  {
    title: 'It loads another firmware: a file of 64 KiB, with its name as an input of its own',
    object: 'motor-1',
    method: 'loadFirmware',
    body: { input: { image: 'firmware/motor-2.1.0.bin', name: 'motor-2.1.0.bin' } },
    device: {
      id: 'motor-1',
      receives: {
        ...{ target: '', timeout: 30, files: { image: file(65_536) } },
        input: { image: 'firmware/motor-2.1.0.bin', name: 'motor-2.1.0.bin' },
      },
      answer: async (payload) => done(200, { bytes: (await fetched(payload, 'image')).length }),
    },
    expected: { status: 200, body: { status: 200, output: { bytes: 65_536 } } },
    isRepeat: true,
  },
  {
    title: 'A drive behind a gateway has the method from its base type; the gateway learns which drive is meant',
    object: 'gateway-1/bus/drive-1',
    method: 'stop',
    device: { id: 'gateway-1', receives: { target: 'bus/drive-1', timeout: 30 }, answer: () => done() },
    expected: { status: 200, body: { status: 200 } },
  },
  {
    title: 'The drive cannot turn so far: it answers with a status of its own',
    object: 'gateway-1/bus/drive-1',
    method: 'moveTo',
    body: { input: { angle: 720 } },
    device: {
      id: 'gateway-1',
      receives: { target: 'bus/drive-1', timeout: 30, input: { angle: 720 } },
      answer: () => done(422, { furthest: 180 }),
    },
    expected: { status: 200, body: { status: 422, output: { furthest: 180 } } },
    isRepeat: true,
  },
  refusal('An application that may only read is refused', 403, /may not invoke/, { caller: 'reader', isRepeat: false }),
  refusal('To one of another tenant the motor does not exist', 404, /object model/, { caller: 'stranger' }),
  refusal('A token that has expired is not accepted', 401, /token/, {
    caller: 'expired',
    headers: { 'www-authenticate': /^Bearer/ },
  }),
  refusal('Inputs must be declared, and fit their data type', 400, /rpm/, {
    method: 'configure',
    body: { input: { rpm: 'fast' } },
  }),
  refusal('A file of another tenant is not there', 400, /image/, {
    method: 'loadFirmware',
    body: { input: { image: '../globex/secret.txt' } },
  }),
  refusal('A method that the type does not declare is not found', 404, /method/, { method: 'fly' }),
  refusal('A motor without an owner cannot be reached', 409, /owns/, { object: 'Spare motor' }),
  refusal('A device is not connected: the application gets the answer at once', 503, /not connected/, {
    object: 'motor-2',
    isRepeat: false,
  }),
  refusal('The hub throttles: the application is told when to try again', 429, /later/, {
    fault: { kind: 'method', answer: 'refuse', errorCode: 429001, times: 1 },
    headers: { 'retry-after': /^\d+$/ },
  }),
  {
    title: 'The answer is lost on its way: the motor may have stopped, and the invocation is not repeated',
    object: 'motor-1',
    method: 'stop',
    fault: { kind: 'method', answer: 'refuse', errorCode: 504101, effect: true, times: 1 },
    device: { id: 'motor-1', receives: { target: '', timeout: 30 }, answer: () => done() },
    expected: failure(504, /may have run/),
  },
];
