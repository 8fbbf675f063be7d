import { anyGuid } from '../stories/pattern.ts';
import type { Invocation } from './invocation.ts';

const requestId = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** Topic on which a module receives a method; a gateway receives `$proxy`. */
const topic = (id: string, method: string) =>
  new RegExp(`^modules/${id}/methods/in/${method.replace('$', '\\$')}/${requestId}$`);

/** Remote methods of the modules of an edge device, behind the edge proxy. */
export const edgeMethods: readonly Invocation[] = [
  {
    title: 'A module of an edge device stops its press: the edge proxy hands the invocation over as MQTT',
    object: 'edge-1/press',
    method: 'stop',
    module: { id: 'press', topic: topic('press', 'stop'), payload: '' },
    expected: { status: 200, body: { status: 200 } },
  },
  {
    title: 'It receives a file: the edge proxy has put it into the module’s folder under a new name',
    object: 'edge-1/press',
    method: 'configure',
    body: { input: { rpm: 1450, curve: 'curves/soft-start.json' } },
    module: { id: 'press', topic: topic('press', 'configure'), payload: { rpm: 1450, curve: anyGuid } },
    expected: {
      status: 200,
      body: { status: 200, output: { set: ['rpm'], curve: '{"seconds":[0,2,5],"percent":[0,30,100]}\n' } },
    },
  },
  {
    title: 'It loads another firmware: a file of 64 KiB, with the original name as an input of its own',
    object: 'edge-1/press',
    method: 'loadFirmware',
    body: { input: { image: 'firmware/motor-2.1.0.bin', name: 'motor-2.1.0.bin' } },
    module: {
      id: 'press',
      topic: topic('press', 'loadFirmware'),
      payload: { image: anyGuid, name: 'motor-2.1.0.bin' },
    },
    expected: { status: 200, body: { status: 200, output: { bytes: 65_536 } } },
    isRepeat: true,
  },
  {
    title: 'A gateway module receives invocations for a drive behind it on $proxy',
    object: 'edge-1/line/valve-1',
    method: 'moveTo',
    body: { input: { angle: 90 } },
    module: {
      id: 'line',
      topic: topic('line', '$proxy'),
      payload: { objectId: anyGuid, method: 'moveTo', input: { angle: 90 } },
    },
    expected: { status: 200, body: { status: 200, output: { angle: 90 } } },
  },
  {
    title: 'The drive cannot turn so far: it answers with a status of its own',
    object: 'edge-1/line/valve-1',
    method: 'moveTo',
    body: { input: { angle: 720 } },
    module: {
      id: 'line',
      topic: topic('line', '$proxy'),
      payload: { objectId: anyGuid, method: 'moveTo', input: { angle: 720 } },
    },
    expected: { status: 200, body: { status: 422, output: { furthest: 180 } } },
    isRepeat: true,
  },
  {
    title: 'The module is not connected: the edge proxy answers before the hub’s time-out',
    object: 'edge-1/mine',
    method: 'stop',
    body: { timeout: 5 },
    expected: {
      status: 504,
      body: {
        errors: [
          {
            ...{ code: '504', title: /./, detail: /the module did not reply in time/, id: /^[\w-]{36}$/ },
            meta: { reason: 'no_reply_at_device', invoked: 'unknown' },
          },
        ],
      },
    },
  },
];
