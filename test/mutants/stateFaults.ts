import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

/** In what the service says about itself. */
export const stateFaults: readonly Fault[] = [
  ...inFile(
    'src/hub/reading/newestEvents.ts',
    ['test/hub/newestEvents.test.ts'],
    {
      fault: 'asks the hub for its newest event whenever somebody looks',
      find: '>= everyMs;',
      replace: '>= 0;',
      caughtBy: 'is asked for every thirty seconds',
    },
    {
      fault: 'asks the hub again while it has not answered',
      find: '!open.has(partition) && ',
      replace: '',
      caughtBy: 'is not asked for twice at once',
    },
  ),
  ...inFile('src/hub/reading/partitionState.ts', ['test/hub/partitionState.test.ts'], {
    fault: 'gives the age of the last event though none is newer',
    find: 'lagEvents === undefined || lagEvents === 0 ? lagEvents',
    replace: 'lagEvents === undefined ? lagEvents',
    caughtBy: 'says how far behind the hub it is',
  }),
  ...inFile('src/engine/partition/contents.ts', ['test/hub/partitionState.test.ts'], {
    fault: 'takes the newest message for the oldest',
    find: 'oldest.sequenceNumber < first.sequenceNumber',
    replace: 'oldest.sequenceNumber > first.sequenceNumber',
    caughtBy: 'says how far behind the hub it is',
  }),
  ...inFile('src/engine/progress/checkpointWriter.ts', ['test/hub/partitionState.test.ts'], {
    fault: 'counts no checkpoint that could not be written',
    find: '      failures += 1;\n',
    replace: '',
    caughtBy: 'how often it could not be written',
  }),
  ...inFile('telemetry/src/healthServer.ts', ['test/telemetry/healthServer.test.ts'], {
    fault: 'forgets that it has been ready',
    find: 'hasBeenReady ||= waitingFor.length === 0;',
    replace: 'hasBeenReady = waitingFor.length === 0;',
    caughtBy: 'has started when it was ready once',
  }),
  ...inFile(
    'src/backends/backends.ts',
    ['test/backends/states.test.ts'],
    {
      fault: 'shows the cache of identities as that of types',
      find: 'cacheEntries: types.entries()',
      replace: 'cacheEntries: identities.entries()',
      caughtBy: 'what an operator sees of the backends is each its own',
    },
    {
      fault: 'shows the connections of another backend',
      find: '...backends.principalManager.state()',
      replace: '...backends.informationModel.state()',
      caughtBy: 'what an operator sees of the backends is each its own',
    },
  ),
  ...inFile('src/backends/bulkhead.ts', ['test/backends/states.test.ts'], {
    fault: 'shows what waits for a connection as connections in use',
    find: 'inUse: all.inUse(), waiting: all.waiting()',
    replace: 'inUse: all.waiting(), waiting: all.inUse()',
    caughtBy: 'what an operator sees of the backends is each its own',
  }),
  ...inFile('src/operations/deviceWork.ts', ['test/operations/serviceRoutes.test.ts'], {
    fault: 'shows when a message was read as when its handling began',
    find: 'begun: ageOf(begunAt)',
    replace: 'begun: ageOf(readAt)',
    caughtBy: '/devices has what each device waits for',
  }),
];
