import type { Finding } from './checker.ts';

/** A service that breaks one guarantee on purpose; the checker must report it as one of these. */
export interface Sabotage {
  readonly name: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  readonly reportedAs: readonly Finding['what'][];
}

export const sabotages: readonly Sabotage[] = [
  {
    name: 'a checkpoint before the work is done',
    file: 'src/hub/partition.ts',
    find: 'lanes.run(deviceId, () => work(arrival, done));',
    replace: `done();
    lanes.run(deviceId, () => work(arrival, () => {}));`,
    reportedAs: ['lost'],
  },
  {
    name: 'two messages of a device swapped',
    file: 'src/hub/lanes.ts',
    find: 'lane.push(work);',
    replace: 'lane.splice(1, 0, work);',
    reportedAs: ['inverted'],
  },
  {
    name: 'an acknowledgement dropped',
    file: 'src/answer.ts',
    find: 'if (wantsAck(envelope.ack, failure === undefined)) {',
    replace: 'if (wantsAck(envelope.ack, failure === undefined) && Math.random() > 0.02) {',
    reportedAs: ['wrong acknowledgement'],
  },
  {
    name: 'an effect done twice',
    file: 'src/messages/identity.update.ts',
    find: 'await principalManager.updateIdentity(principal.id, json.text);',
    replace: `await principalManager.updateIdentity(principal.id, json.text);
    if (Math.random() < 0.05) await principalManager.updateIdentity(principal.id, json.text);`,
    reportedAs: ['duplicated'],
  },
  {
    name: 'a wrong code',
    file: 'src/answer.ts',
    find: `    code: failure?.code ?? 'ok',`,
    replace: `    code: failure && Math.random() < 0.1 ? 'not_authorized' : (failure?.code ?? 'ok'),`,
    reportedAs: ['wrong acknowledgement'],
  },
];
