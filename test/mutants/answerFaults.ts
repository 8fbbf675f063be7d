import type { Fault } from './faults.ts';
import { inFile } from './inFile.ts';

const table = (name: string) => `test/messages/${name}.test.ts`;

/** In what messages need, find and collect, and in what is said of them. */
export const answerFaults: readonly Fault[] = [
  ...inFile('src/concurrency/inOrder.ts', ['test/objectModel/objectModel.test.ts'], {
    fault: 'pairs models with answers in the order in which these come',
    find: 'results[index] = await work(inputs[index] as In)',
    replace: 'results.push(await work(inputs[index] as In))',
    caughtBy: 'Each model gets its own answer, in the order of the references, for any order of answers',
  }),
  ...inFile('src/objectModel/replace.ts', ['test/objectModel/objectModel.test.ts'], {
    fault: 'takes the gap between versions by JavaScript numbers',
    find: 'const gap = wanted - BigInt(version);',
    replace: 'const gap = BigInt(Number(wanted) - Number(version));',
    caughtBy: 'A request one version behind a stored version beyond JavaScript’s integers overwrites nothing',
  }),
  ...inFile('src/protocol/json.ts', ['test/cost.test.ts'], {
    fault: 'decodes the value of a request again for each hit',
    find: "Object.defineProperty(this, 'value', { value });",
    replace: '',
    caughtBy: 'hits that all have a text of nothing but escapes, as the request',
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
];
