import { setTimeout as sleep } from 'node:timers/promises';
import { callFrontDoor } from '../../sandbox/invoke/call.ts';
import { findObject } from '../../sandbox/invoke/find.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { withConstants } from '../../test/support/processes.ts';
import type { Episode, Stage } from './stage.ts';

type HubFault = Parameters<Sandbox['hub']['faults']['add']>[0];
type BackendFault = Parameters<Sandbox['backends']['faults']['add']>[0];

const hubFault =
  (...requests: HubFault[]) =>
  ({ sandbox }: Stage) => {
    for (const request of requests) sandbox.hub.faults.add(request);
  };
const backendFault =
  (request: BackendFault) =>
  ({ sandbox }: Stage) => {
    sandbox.backends.faults.add(request);
  };

/** What the query of the autoscaler reads. */
const scaling = ['device_messaging_partition_behind_duration', 'device_messaging_backend_out'];

/** By which a program is known to be there. */
const presence = ['device_messaging_ready', 'device_messaging_partitions', 'device_messaging_partition_messages'];

const hourMs = 3_600_000;
const anHour = 130;

/** What is passed to a Node.js that begins: so many bytes that stay in memory. */
const ballast = (bytes: number) => ({
  NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(`globalThis.ballast = Buffer.alloc(${bytes}, 1);`)}`,
});

/** An application that invokes a method of a device that does not listen, again and again. */
async function invokeSteadily(
  { sandbox, ended }: Stage,
  method = 'stop',
  input?: object,
  wrong?: string,
): Promise<void> {
  const { state } = sandbox;
  const model = 'svc.device';
  const { objectId } = await findObject(state, 'motor-1', model);
  while (!ended.aborted) {
    const token = wrong ?? state.methods?.tokens.invoker;
    const body = JSON.stringify(input === undefined ? {} : { input });
    await callFrontDoor(state, { objectId, model, method, token, body }, 30_000);
    await sleep(100);
  }
}

const frontDoor = { job: 'device-messaging-methods', meanwhile: (stage: Stage) => invokeSteadily(stage) } as const;

export const episodes: Readonly<Record<string, Episode>> = {
  good: { fires: [], scrapes: anHour, store: 'blob' },
  'good-front-door': { ...frontDoor, fires: [], scrapes: anHour },
  restarts: {
    fires: ['ServiceRestarts'],
    async trouble({ instance, sandbox }) {
      sandbox.backends.faults.add({ backend: 'informationModel', hang: true });
      for (let turn = 0; turn < 4; turn += 1) {
        await sleep(1_500);
        await instance.kill();
        await instance.start();
      }
    },
    scrapes: 80,
  },
  'killed and not yet replaced': {
    ...{ fires: ['PartitionUnread'], asks: [...scaling, ...presence], store: 'blob' },
    async trouble({ instance }) {
      await instance.kill();
      await instance.start();
    },
    scrapes: 80,
  },
  // Others take over within seconds, and half a minute is played where it is not.
  'one of three killed': {
    ...{ fires: ['InstanceDown'], asks: presence, store: 'blob', instances: 3, everyMs: 4_000 },
    environment: withConstants({ timing: { expirySeconds: 5 } }),
    async begun({ instance, others }) {
      for (const one of [instance, ...others])
        while (!/^device_messaging_partitions\{.*"reading".*\} [1-9]/m.test(await one.metrics())) await sleep(250);
    },
    trouble: ({ others }) => others[1]?.kill(),
    scrapes: 32,
  },
  'half a day behind': {
    fires: ['Behind'],
    async trouble({ instance, sandbox }) {
      instance.setClock(13 * hourMs);
      await sleep(500);
      sandbox.backends.faults.add({ backend: 'informationModel', hang: true });
    },
    scrapes: 80,
  },
  'falling behind': {
    ...{ fires: ['Behind', 'BackendOut'], asks: [...scaling, ...presence], devices: 8 },
    async trouble({ instance, sandbox }) {
      instance.setClock(600_000);
      await sleep(3_000); // what was read before has its old age
      sandbox.backends.faults.add({ backend: 'principalManager', reset: 'before' });
    },
    scrapes: anHour,
  },
  'backlog read late': {
    fires: [],
    asks: scaling,
    trouble({ instance }) {
      instance.setClock(300_000);
    },
    scrapes: 40,
  },
  'wrong token': {
    ...{ fires: ['TokenRefused'], asks: ['http_client_request_duration_count'] },
    trouble: backendFault({ backend: 'principalManager', status: 401 }),
  },
  'no token': { fires: ['BackendOut'], before: backendFault({ backend: 'token', status: 500 }) },
  'store away': {
    ...{ fires: ['StoreFails'], asks: presence, store: 'blob' },
    async trouble({ azurite, sandbox }) {
      await azurite.close();
      sandbox.backends.faults.add({ backend: 'informationModel', garbage: true });
    },
    scrapes: 80,
  },
  'wrong answers': { fires: ['DeadLetters'], trouble: backendFault({ backend: 'informationModel', garbage: true }) },
  'foreign reader': {
    fires: ['ForeignClient'],
    async trouble({ sandbox }) {
      await sandbox.hub.faults.strike({ kind: 'steal', partition: '0' });
    },
  },
  'hub throttles replies': {
    fires: ['HubThrottles'],
    environment: withConstants({ timing: { replySeconds: 2 } }),
    hubRules: { rates: { c2d: 0.01 } },
    scrapes: anHour,
  },
  'hub says nothing': {
    ...{ fires: ['NotReady'], asks: presence },
    async trouble({ sandbox }) {
      sandbox.hub.faults.add({ kind: 'refuse-connection', answer: 'silent' });
      await sandbox.hub.faults.strike({ kind: 'drop', connections: 'events' });
    },
    scrapes: 60,
  },
  'events deleted unread': {
    fires: ['EventsLost'],
    hubRules: { bounds: { partition: 200_000 } },
    async trouble({ instance, sandbox }) {
      instance.freeze();
      await sandbox.hub.faults.strike({ kind: 'burst', events: 20_000 });
      await sleep(500);
      instance.thaw();
    },
  },
  'quota used up': { fires: ['HubTakesNoReplies'], trouble: hubFault({ kind: 'quota' }) },
  'memory nearly full': { fires: ['Overloaded'], environment: ballast(950_000_000), scrapes: 20 },
  'no processor time': {
    fires: ['Overloaded'],
    async trouble({ instance, ended }) {
      while (!ended.aborted) {
        instance.freeze();
        await sleep(1_400);
        instance.thaw();
        await sleep(300);
      }
    },
    scrapes: 16,
  },
  'wrong token of a caller': {
    ...{ job: 'device-messaging-methods', fires: [] },
    meanwhile: (stage) => invokeSteadily(stage, 'stop', undefined, 'wrong'),
  },
  'hub refuses the key': {
    ...frontDoor,
    fires: ['NotReady'],
    trouble: hubFault({ kind: 'method', answer: 'refuse', errorCode: 401002 }),
  },
  'hub overloaded': {
    ...frontDoor,
    fires: ['MethodsFail'],
    trouble: hubFault({ kind: 'method', answer: 'refuse', errorCode: 503001 }),
  },
  'methods throttled': {
    ...frontDoor,
    fires: ['HubThrottles'],
    trouble: hubFault({ kind: 'method', answer: 'refuse', errorCode: 429001 }),
    scrapes: anHour,
  },
  'file storage away': {
    job: 'device-messaging-methods',
    fires: ['StoreFails'],
    meanwhile: (stage) => invokeSteadily(stage, 'loadFirmware', { image: 'firmware/motor-2.1.0.bin' }),
    trouble: ({ azurite }) => azurite.close(),
  },
  'front door without a backend': {
    ...frontDoor,
    fires: ['BackendOut'],
    trouble: backendFault({ backend: 'informationModel', reset: 'before' }),
  },
};
