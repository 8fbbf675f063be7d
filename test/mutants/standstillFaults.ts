import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const dispatching = ['test/dispatch/dispatch.test.ts'];

/** At the end of a partition session, by a drain or after a standstill. */
export const standstillFaults: readonly Fault[] = [
  ...inFile('src/backends/deadline.ts', dispatching, {
    fault: 'makes another call after a standstill',
    find: '      beforeEffect?.();\n',
    replace: '',
    caughtBy: 'ends before its next call or reply',
  }),
  ...inFile('src/dispatch/respond.ts', dispatching, {
    fault: 'sends another reply after a standstill',
    find: '    beforeEffect?.();\n',
    replace: '',
    caughtBy: 'ends before its next call or reply',
  }),
  ...inFile('src/concurrency/standstill.ts', ['test/concurrency/standstill.test.ts'], {
    fault: 'takes a standstill for over only when its timer fires',
    find: '    last = now;\n',
    replace: '',
    caughtBy: 'is detected at the next step, before any timer, and once',
  }),
  ...inFile('src/hub/reading/sessions.ts', ['test/hub/sessions.test.ts'], {
    fault: 'goes on with its sessions after a standstill',
    find: "for (const partition of partitions) revoke(partition, 'stood_still');",
    replace: '',
    caughtBy: 'revoked after a standstill',
  }),
];
