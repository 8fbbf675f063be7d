import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const restarts = ['test/hub/quarantine/restarts.test.ts'];
const rules = ['test/hub/quarantine/quarantine.test.ts'];

/** In what keeps a message from ending the process for ever. */
export const quarantineFaults: readonly Fault[] = [
  ...inFile('src/hub/quarantine/note.ts', [...restarts, 'test/hub/quarantine/note.test.ts'], {
    fault: 'counts violent ends anew whenever the position has moved',
    find: 'position < upTo;',
    replace: 'position < 0;',
    caughtBy: 'although the position moves between the ends',
  }),
  ...inFile(
    'src/hub/quarantine/trials.ts',
    [...restarts, ...rules],
    {
      fault: 'lets others begin before the note of a suspect is cleared',
      find: '      await clear();\n      release();',
      replace: '      release();\n      await clear();',
      caughtBy: 'nobody else begins before its note is cleared',
    },
    {
      fault: 'begins a suspect that is not noted',
      find: 'if (!(await annotate(noteOf(sequenceNumber)))) {',
      replace: 'if (!(await annotate(noteOf(sequenceNumber))) && draining.aborted) {',
      caughtBy: 'no suspect begins that could not be noted',
    },
    {
      fault: 'parks a message that was alone at two violent ends',
      find: 'endsUntilParked = 3',
      replace: 'endsUntilParked = 2',
      caughtBy: 'is executed at the third attempt',
    },
    {
      fault: 'lets a slow suspect hold up all others',
      find: 'setTimeout(() => controller.abort(), ms)',
      replace: 'setTimeout(() => controller.abort(), ms * 1_000)',
      caughtBy: 'is broken off after 15 s',
    },
  ),
  ...inFile(
    'src/hub/quarantine/quarantine.ts',
    [...restarts, ...rules],
    {
      fault: 'tries suspects in order of arrival only',
      find: 'waiting.sort(inOrderOfSuspicion(countOf));',
      replace: 'waiting.sort(() => inOrderOfSuspicion(countOf) && 0);',
      caughtBy: 'comes before the others when it was alone',
    },
    {
      fault: 'never ends the trials of slow suspects',
      find: 'holdUps === mostSlow',
      replace: 'holdUps === 1_000 * mostSlow',
      caughtBy: 'and three others like it end the trials',
    },
  ),
  ...inFile('src/hub/partition/intake.ts', restarts, {
    fault: 'begins suspects beside others as they come',
    find: ' && !screening?.isSuspect(event.sequenceNumber)',
    replace: '',
    caughtBy: 'is parked after two ends and three',
  }),
  ...inFile('src/hub/partition/work.ts', ['test/hub/quarantine/brokenOff.test.ts'], {
    fault: 'takes a suspect that was broken off for a new message',
    find: 'message.kept = repeatOf(message.kept);',
    replace: 'void repeatOf;',
    caughtBy: 'is handled again as a possible repeat',
  }),
  ...inFile('src/hub/reading/startPosition.ts', ['test/hub/quarantine/violentEnds.test.ts'], {
    fault: 'keeps a violent end to itself',
    find: 'note === before || (await store.writeProgress(record, noted))',
    replace: 'note !== undefined || (await store.writeProgress(record, noted))',
    caughtBy: 'whose reader died is noted once',
  }),
  ...inFile('src/hub/reading/sessions.ts', ['test/hub/quarantine/violentEnds.test.ts'], {
    fault: 'forgets a violent end when the partition cannot be opened at once',
    find: 'const afterViolentEnd = uncounted.has(partition);',
    replace: 'const afterViolentEnd = uncounted.delete(partition);',
    caughtBy: 'is counted all the same when that succeeds',
  }),
  ...inFile('src/hub/reading/consumer.ts', ['test/hub/quarantine/violentEnds.test.ts'], {
    fault: 'takes a partition that was given back for one that died',
    find: 'seen !== undefined && seen.begun === undefined',
    replace: 'seen !== undefined',
    caughtBy: 'that was given back is read without counting',
  }),
  ...inFile('src/dispatch/dispatch.ts', ['test/dispatch/dispatch.test.ts'], {
    fault: 'executes a message that is to be parked unexecuted',
    find: 'const handled = context.parkUnexecuted',
    replace: 'const handled = context.parkUnexecuted === undefined',
    caughtBy: 'without its body being read or a backend called',
  }),
];
