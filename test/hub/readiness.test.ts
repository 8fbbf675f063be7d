import { describe, expect, it } from 'vitest';
import { missingOf, silentMsAt } from '../../src/hub/reading/hubWatch.ts';
import type { ReadingDiagnosis } from '../../src/hub/reading/readingDiagnosis.ts';
import { wholeHub } from '../../src/hub/reading/readingTroubles.ts';
import type { StoreDiagnosis } from '../../src/storage/storeFailure.ts';

const refusal: ReadingDiagnosis = {
  ...{ cause: 'c', level: 'warn', hubSaid: 'no such group', setting: 'HUB_CONSUMER_GROUP', isAnswer: true },
  todo: 'create it',
};
const { setting: _, ...withoutSetting } = refusal;

describe('what is missing', () => {
  interface Circumstances {
    readonly owned?: readonly string[];
    readonly isAllElsewhere?: boolean;
    readonly heard?: readonly string[];
    readonly ending?: readonly string[];
    readonly troubles?: Readonly<Record<string, ReadingDiagnosis>>;
    readonly storeTrouble?: StoreDiagnosis;
  }
  const storeTrouble = { setting: 'STORE_CONNECTION_STRING', storeSaid: '403 AuthenticationFailed', todo: 'mend it' };
  const ofStore = 'the checkpoint store: 403 AuthenticationFailed (STORE_CONNECTION_STRING)';

  it.each<[string, Circumstances, readonly string[]]>([
    ['is a partition before the first round', {}, ['a partition of the hub to read']],
    [
      'is a partition while the hub cannot be asked which it has, and why',
      { troubles: { [wholeHub]: refusal } },
      ['a partition of the hub to read: no such group (HUB_CONSUMER_GROUP)'],
    ],
    ['is the store when it does not say which partitions to read', { storeTrouble }, [ofStore]],
    [
      'is the store when it has no start of a partition, and the hub nothing against it',
      { owned: ['0', '1'], troubles: { 0: refusal }, storeTrouble },
      ['partition 0 of the hub: no such group (HUB_CONSUMER_GROUP)', `partition 1 of the hub: ${ofStore}`],
    ],
    [
      'is nothing while what is owned is heard, whatever the store says',
      { owned: ['0'], heard: ['0'], storeTrouble },
      [],
    ],
    ['is nothing while others read all', { isAllElsewhere: true, troubles: { [wholeHub]: refusal } }, []],
    ['is nothing while all that is owned is heard', { owned: ['0', '1'], heard: ['0', '1'] }, []],
    [
      'is what is owned and not heard',
      { owned: ['0', '1'], heard: ['0'] },
      ['partition 1 of the hub: no sign of life yet'],
    ],
    [
      'is what the hub refuses, with the setting to look at',
      { owned: ['0'], troubles: { 0: refusal, 1: refusal } },
      ['partition 0 of the hub: no such group (HUB_CONSUMER_GROUP)'],
    ],
    [
      'is what the hub refuses, with what to do when no setting is known to be wrong',
      { owned: ['0'], troubles: { 0: withoutSetting } },
      ['partition 0 of the hub: no such group (create it)'],
    ],
    ['is not what is given away', { owned: ['0', '1'], heard: ['1'], ending: ['0'] }, []],
    ['is nothing when all that is owned is given away', { owned: ['0'], ending: ['0'] }, []],
  ])(
    '%s',
    (_, { owned = [], isAllElsewhere = false, heard = [], ending = [], troubles = {}, storeTrouble }, expected) => {
      const readings = {
        isHeard: (partition: string) => heard.includes(partition),
        isEnding: (partition: string) => ending.includes(partition),
        troubleOf: (place: string) => troubles[place],
      };
      expect(missingOf({ owned, isAllElsewhere, storeTrouble }, readings)).toEqual(expected);
    },
  );
});

it.each<[string, number | undefined, readonly number[], number]>([
  ['the last complete round while nothing is read, whatever is to be opened', 20, [], 60],
  ['the last answer of the partition that is silent for longest', undefined, [5, 30, 10], 30],
  ['when a partition could not be opened, while what is read is answered', 20, [5, 30], 80],
  ['the last answer that is longer ago than a partition could not be opened', 80, [5, 30], 30],
])('The hub is silent since %s', (_, unreadSince, unanswered, expected) => {
  const read = unanswered.map((unansweredMs) => ({ unansweredMs }));
  expect(silentMsAt(100, { answeredAt: 40, unreadSince }, read)).toBe(expected);
});
