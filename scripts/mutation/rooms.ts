import { filesBelow } from '../../test/support/imports.ts';

export interface Room {
  readonly folder: string;
  /** Tests that are asked, and folders of them. */
  readonly tests: readonly string[];
  /** Those of the tests that start no program, although what they load could. */
  readonly quick?: readonly string[];
  /** Those of the tests that take longer than all others of the room: they are not asked. */
  readonly long?: readonly string[];
}

const tests = (folder: string, ...names: readonly string[]) => names.map((name) => `test/${folder}/${name}.test.ts`);

/** What is mutated, in the order in which it is measured: what is most harmful when it is wrong comes first. */
export const rooms: readonly Room[] = [
  { folder: 'src/backends', tests: ['test/backends'] },
  { folder: 'src/dispatch', tests: ['test/dispatch', ...tests('messages', 'v1/Svc.Device.SyncModel')] },
  {
    folder: 'src/hub/replies',
    tests: [
      ...tests('hub', 'encoding', 'fairQueue', 'identityClient', 'pendingSends', 'rateLimit'),
      ...tests('hub', 'replyClock', 'replyMetrics', 'replySettings', 'sender', 'sendFailure', 'sendQueue'),
      ...tests('hub', 'serviceConnection', 'serviceDiagnosis', 'serviceReopening', 'stuckWatch'),
    ],
  },
  {
    folder: 'src/methods',
    tests: [
      ...tests('methods', 'acceptedTokens', 'adminRoutes', 'calls', 'concurrencyLimits', 'drain', 'fileInputs'),
      ...tests('methods', 'methodResponse', 'receiveBody', 'requestHandler', 'requests'),
      ...tests('methods', 'device', 'input', 'invoke', 'malformed'),
    ],
  },
  {
    folder: 'src/hub/methods',
    tests: tests('methods', 'directMethods', 'fileStorage', 'hub', 'hubAccess', 'hubError', 'invoke'),
  },
  {
    folder: 'src/observing',
    tests: ['test/observing', 'test/dispatch', ...tests('backends', 'recentRequests', 'caches', 'circuit', 'steps')],
  },
  {
    folder: 'src/operations',
    tests: ['test/operations', ...tests('backends', 'caches'), ...tests('methods', 'metrics')],
  },
  {
    folder: 'telemetry/src',
    tests: [
      ...['test/telemetry', 'test/log', 'test/network'],
      ...tests('metrics', 'exposition'),
      ...tests('operations', 'listening'),
    ],
  },
  {
    folder: 'edge/src',
    tests: ['test/edge'],
    quick: tests('edge', 'connections', 'load', 'metrics', 'modules', 'reload'),
  },
  { folder: 'src/protocol', tests: ['test/protocol', 'test/dispatch', 'test/messages'] },
  { folder: 'src/objectModel', tests: ['test/objectModel', 'test/messages'] },
  { folder: 'src/messages', tests: ['test/messages'] },
  { folder: 'src/engine', tests: ['test/engine'], long: tests('engine', 'flood', 'quarantine/restarts') },
];

const isCode = (file: string): boolean => !file.endsWith('.d.ts');

export const filesOf = ({ folder }: Room): string[] => filesBelow(folder).filter(isCode).sort();

/** The room with the file, or undefined when it is not mutated. */
export const roomOf = (file: string): Room | undefined => rooms.find(({ folder }) => file.startsWith(`${folder}/`));
