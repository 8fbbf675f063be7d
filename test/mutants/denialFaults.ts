import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

/** In the list of what proves the sentences with a "not". */
export const denialFaults: readonly Fault[] = inFile(
  'test/docs/negatives.ts',
  ['test/docs/negatives.test.ts'],
  {
    fault: 'leaves a sentence without a proof',
    find: "['No secrets in the log',",
    replace: "['No secrets anywhere',",
    caughtBy: 'is proven, or is not about the service',
  },
  {
    fault: 'names a test that there is not',
    find: 'without its body being read or a backend called',
    replace: 'without its body being read or a backend asked',
    caughtBy: 'is not executed again',
  },
);
