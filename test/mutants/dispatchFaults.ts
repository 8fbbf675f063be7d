import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

/** In what is counted, charged and logged of a message. */
export const dispatchFaults: readonly Fault[] = [
  ...inFile('src/dispatch/dispatch.ts', ['test/dispatch/dispatch.test.ts'], {
    fault: 'charges nothing for replies',
    find: '    context.answering(replyBytes(handled));\n',
    replace: '    void replyBytes(handled);\n',
    caughtBy: 'is charged once: an acknowledgement, which may repeat the body',
  }),
  ...inFile('src/observing/messageRecords.ts', ['test/dispatch/dispatch.test.ts'], {
    fault: 'counts the time of parking as that of replies',
    find: 'repliedAt - answersAt',
    replace: 'performance.now() - answersAt',
    caughtBy: 'has the time of replies without that of parking, like the metric:',
  }),
  ...inFile('src/observing/messageRecords.ts', ['test/dispatch/handledMetrics.test.ts'], {
    fault: 'does not count a message that a defect has ended',
    find: "      countHandled('internal_platform_error', other, generation);\n",
    replace: '',
    caughtBy: 'a message that ends in a defect of the service is counted as the service’s failure, and parked',
  }),
  ...inFile('src/observing/messageFields.ts', ['test/dispatch/dispatch.test.ts'], {
    fault: 'does not tell followers that a message may be a repeat',
    find: 'redelivered: arrival.redelivered,',
    replace: 'redelivered: arrival.redelivered && undefined,',
    caughtBy: 'shows how the handling begins and ends, with the dropped replies',
  }),
  ...inFile('src/dispatch/recognition.ts', ['test/dispatch/recognition.test.ts'], {
    fault: 'does not tell followers what is skipped',
    find: "publish?.('skipped', { why: whyNotOurs(event), hint: misspelling });",
    replace: 'void publish, whyNotOurs;',
    caughtBy: 'a tap on a device shows why its message is skipped',
  }),
  ...inFile('src/observing/messageFields.ts', ['test/dispatch/handledLine.test.ts'], {
    fault: 'counts only the drops that it names',
    find: 'droppedReplies: dropped.length })',
    replace: 'droppedReplies: Math.min(dropped.length, 10) })',
    caughtBy: 'with 1 replies sent and 11 dropped',
  }),
  ...inFile('src/objectModel/relatedModels.ts', ['test/messages/model.create.test.ts'], {
    fault: 'counts a related model that failed as created',
    find: 'if (success && created)',
    replace: 'if (created)',
    caughtBy:
      'sends ObjectModelUpdated when the answer reports the svc.configuration model as created although that failed',
  }),
  ...inFile('src/card/checks.ts', ['test/messages/v1/Svc.Device.Created.test.ts'], {
    fault: 'refuses keys of an inner object that it does not read and that occur twice',
    find: 'memberOf(json, key, inner)?.twice',
    replace: 'memberOf(json, inner && key)?.twice',
    caughtBy: 'ignores a duplicate key of the parent that is not read',
  }),
];
