import { describe, expect, it } from 'vitest';
import { withFatal } from './fatal.ts';
import { createRandom } from './random.ts';
import { createWorkload } from './workload.ts';

const senders = createWorkload(createRandom(1), 10);
const isFatal = ({ intent }: { intent: { does: string } }) => intent.does === 'end the process';

describe('A workload with messages that end the process', () => {
  it.each([1, 2, 10])('has %i of them, of as many devices, behind the first messages of these', (count) => {
    const all = withFatal(senders, count, createRandom(2));
    const changed = all.filter(({ messages }) => messages.some(isFatal));
    expect(changed).toHaveLength(count);
    for (const { deviceId, messages } of changed) {
      expect(messages.findIndex(isFatal)).toBeGreaterThan(0);
      expect(messages.filter(isFatal)).toMatchObject([
        { id: `fatal-${deviceId}`, deviceId, properties: { correlationId: `fatal-${deviceId}` } },
      ]);
    }
  });

  it('has all other messages as they were', () => {
    const all = withFatal(senders, 3, createRandom(2));
    expect(all.map((sender) => ({ ...sender, messages: sender.messages.filter((one) => !isFatal(one)) }))).toEqual(
      senders,
    );
  });

  it('is another for another seed', () => {
    const devicesOf = (seed: number) =>
      [1, 2, 3].map((one) =>
        withFatal(senders, 1, createRandom(seed + one)).findIndex(({ messages }) => messages.some(isFatal)),
      );
    expect(devicesOf(0)).toEqual(devicesOf(0));
    expect(devicesOf(0)).not.toEqual(devicesOf(3));
  });
});
