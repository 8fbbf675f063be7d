import { filesBelow } from '../../test/support/imports.ts';

export interface Room {
  readonly folder: string;
  /** Tests that are asked, and folders of them. */
  readonly tests: readonly string[];
  /** Its tests start no program, although what they load could. */
  readonly isQuick?: boolean;
  /** Those of the tests that take longer than all others of the room: they are not asked. */
  readonly long?: readonly string[];
}

const tests = (folder: string, ...names: readonly string[]) => names.map((name) => `test/${folder}/${name}.test.ts`);

/** Those of the edge proxy start it within their own process. */
const ofEdge = (...names: readonly string[]) => ({ tests: tests('edge', ...names), isQuick: true });

/** What is mutated, in the order in which it is measured: what is most harmful when it is wrong comes first; a folder within another one before it. */
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
  { folder: 'edge/src/configuration', tests: tests('edge', 'configuration', 'watch') },
  {
    folder: 'edge/src/modules',
    ...ofEdge('brokerConnection', 'exactJson', 'packetSizes', 'proxy', 'reply', 'routing', 'setups', 'subscriptions'),
  },
  { folder: 'edge/src/invocations', ...ofEdge('proxy', 'setups') },
  { folder: 'edge/src/hub', ...ofEdge('hubConnection', 'invocation') },
  { folder: 'edge/src/files', ...ofEdge('fileInputs') },
  { folder: 'edge/src/connections', ...ofEdge('options', 'reconnecting') },
  { folder: 'edge/src/operations', ...ofEdge('options') },
  { folder: 'edge/src', ...ofEdge('metrics', 'options') },
  { folder: 'src/protocol', tests: ['test/protocol', 'test/dispatch', 'test/messages'] },
  { folder: 'src/objectModel', tests: ['test/objectModel', 'test/messages'] },
  { folder: 'src/messages', tests: ['test/messages', ...tests('objectModel', 'takenAway')] },
  { folder: 'src/engine', tests: ['test/engine'], long: tests('engine', 'flood', 'quarantine/restarts') },
];

const isCode = (file: string): boolean => !file.endsWith('.d.ts');

/** The room with the file, or undefined when it is not mutated. */
export const roomOf = (file: string): Room | undefined => rooms.find(({ folder }) => file.startsWith(`${folder}/`));

/** Without those of a room within it. */
export const filesOf = (room: Room): string[] =>
  filesBelow(room.folder)
    .filter((file) => isCode(file) && roomOf(file) === room)
    .sort();
