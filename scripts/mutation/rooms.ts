import { filesBelow } from '../../test/support/imports.ts';

export interface Room {
  readonly folder: string;
  /** Tests that are asked, and folders of them. */
  readonly tests: readonly string[];
  /** Those of the tests that start no program, although what they load could. */
  readonly quick?: readonly string[];
}

const tests = (folder: string, ...names: readonly string[]) => names.map((name) => `test/${folder}/${name}.test.ts`);

/** Those of the edge proxy start it within their own process. */
const ofEdge = (...names: readonly string[]) => ({ tests: tests('edge', ...names), quick: tests('edge', ...names) });

/** What is mutated, in the order in which it is measured: what is most harmful when it is wrong comes first; a folder within another one before it. */
export const rooms: readonly Room[] = [
  { folder: 'src/backends', tests: ['test/backends'] },
  { folder: 'src/dispatch', tests: ['test/dispatch'] },
  {
    folder: 'src/hub/replies',
    tests: [
      ...tests(
        'hub',
        'encoding',
        'fairQueue',
        'identityClient',
        'rateLimit',
        'replyClock',
        'replyMetrics',
        'replyRate',
      ),
      ...tests('hub', 'replySettings', 'sender', 'serviceConnection', 'serviceReopening', 'stuckWatch'),
      ...tests('hub', 'workaroundsOfReplying', 'wrongServiceSettings'),
    ],
  },
  { folder: 'src/methods', tests: ['test/methods'] },
  { folder: 'src/hub/methods', tests: ['test/methods'] },
  {
    folder: 'src/observing',
    tests: [
      'test/dispatch',
      ...tests('backends', 'recentRequests', 'caches', 'circuit', 'steps'),
      ...tests('hub', 'replyMetrics'),
      ...tests('methods', 'everyField', 'metrics'),
    ],
  },
  { folder: 'src/operations', tests: ['test/operations'] },
  { folder: 'telemetry/src', tests: ['test/telemetry', 'test/log'] },
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
  { folder: 'src/messages', tests: ['test/messages'] },
  { folder: 'src/engine', tests: ['test/engine'] },
];

const isCode = (file: string): boolean => !file.endsWith('.d.ts');

/** The room with the file, or undefined when it is not mutated. */
export const roomOf = (file: string): Room | undefined => rooms.find(({ folder }) => file.startsWith(`${folder}/`));

/** Without those of a room within it. */
export const filesOf = (room: Room): string[] =>
  filesBelow(room.folder)
    .filter((file) => isCode(file) && roomOf(file) === room)
    .sort();
