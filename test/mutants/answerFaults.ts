import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const table = (name: string) => `test/messages/${name}.test.ts`;
const dispatch = ['test/dispatch/dispatch.test.ts'];

/** In what messages need, find and collect, and in what is said of them. */
export const answerFaults: readonly Fault[] = [
  ...inFile('src/concurrency/inOrder.ts', ['test/objectModel/collect.test.ts'], {
    fault: 'pairs models with answers in the order in which these come',
    find: 'results[index] = await work(inputs[index] as In)',
    replace: 'results.push(await work(inputs[index] as In))',
    caughtBy: 'Each model gets its own answer, in the order of the references, for any order of answers',
  }),
  ...inFile('src/objectModel/replace.ts', ['test/objectModel/replace.test.ts'], {
    fault: 'takes the gap between versions by JavaScript numbers',
    find: 'const gap = wanted - BigInt(version);',
    replace: 'const gap = BigInt(Number(wanted) - Number(version));',
    caughtBy: 'A request one version behind a stored version beyond JavaScript’s integers overwrites nothing',
  }),
  ...inFile('src/objectModel/uniqueValues.ts', ['test/objectModel/uniqueValues.test.ts'], {
    fault: 'takes null for a unique value',
    find: 'plain !== undefined && plain.place.bytes[plain.place.start] !== letterN',
    replace: 'plain !== undefined',
    caughtBy: 'with one that is null: it tells nothing apart',
  }),
  ...inFile('src/protocol/json.ts', ['test/cost.test.ts'], {
    fault: 'decodes the value of a request again for each hit',
    find: "Object.defineProperty(this, 'value', { value });",
    replace: '',
    caughtBy: 'hits that all have a text of nothing but escapes, as the request',
  }),
  ...inFile('src/objectModel/createOrUpdate.ts', [table('model.create')], {
    fault: 'checks any number of hits',
    find: 'if (hits > maxHits) {',
    replace: 'if (hits > 1e9) {',
    caughtBy: 'reads no more than 1,000 hits of a look-up',
  }),
  ...inFile('src/objectModel/parent.ts', [table('v1/Svc.Device.Created')], {
    fault: 'looks for the parent among any number of references',
    find: 'if (references > maxReferences) {',
    replace: 'if (references > 1e9) {',
    caughtBy: 'fails when the model has more than 20,000 references',
  }),
  ...inFile('src/protocol/notification.ts', ['test/protocol/notification.test.ts'], {
    fault: 'gives notifications of two models of an object one id',
    find: '{model} of $',
    replace: "{''} of $",
    caughtBy: 'has a message id derived from the event and the model (C1)',
  }),
  ...inFile('src/messages/model.create.ts', [table('model.create')], {
    fault: 'begins though there is no principal manager',
    find: "'informationModel', 'typeRegistry', 'principalManager'",
    replace: "'informationModel', 'typeRegistry'",
    caughtBy: 'requires exactly the backends that it calls',
  }),
  ...inFile('src/messages/v1/Svc.Device.SyncModel.ts', [table('v1/Svc.Device.SyncModel')], {
    fault: 'begins though there is no information model',
    find: "needs: ['informationModel']",
    replace: 'needs: []',
    caughtBy: 'requires exactly the backends that it calls',
  }),
  ...inFile('src/dispatch/dispatch.ts', dispatch, {
    fault: 'parks a message that another instance handles by now',
    find: 'if (isOurFault && context.ended.aborted) return false;',
    replace: '',
    caughtBy: 'is not parked when its deadline passes after its partition is lost, with ack none',
  }),
  ...inFile('src/observing/messageFields.ts', dispatch, {
    fault: 'passes over internal errors in silence',
    find: " || failure?.code === 'internal_platform_error'",
    replace: '',
    caughtBy: 'has level warn for an internal error',
  }),
];
