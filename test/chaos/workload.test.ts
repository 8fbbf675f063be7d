import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createRandom } from './random.ts';
import { createWorkload } from './workload.ts';

const senders = createWorkload(createRandom(1), 100);
const messages = senders.flatMap((sender) => sender.messages);

describe('The workload', () => {
  it('has at least 2,000 messages of 100 devices, and every message of the interface', () => {
    const names = new Set(messages.map(({ properties }) => properties['action'] ?? properties['eventType']));
    expect(new Set(messages.map(({ deviceId }) => deviceId)).size).toBe(100);
    expect(messages.length).toBeGreaterThanOrEqual(2_000);
    expect([...names]).toEqual(
      expect.arrayContaining([
        ...['model.create', 'model.update', 'type.create', 'reference.create', 'identity.update', 'identity.delete'],
        'Svc.Device.Created',
        'Svc.Device.Updated',
        'Svc.Device.SyncModel',
      ]),
    );
  });
  it('has compressed messages, and devices that flood', () => {
    const encodings = new Set(messages.map(({ properties }) => properties['content-encoding']));
    expect([...encodings].sort()).toEqual(['deflate', 'gzip', undefined]);
    expect(senders.filter(({ atOnce }) => atOnce > 50)).toHaveLength(4);
  });
  it('has bodies that no AMQP library should decode', () => {
    const hostile = messages.filter(({ isEncoded }) => isEncoded).map(({ body }) => body.toString('base64'));
    expect(new Set(hostile).size).toBe(3);
    expect(hostile.length).toBeGreaterThan(20);
  });
  it('has floods of some mebibytes, for which there is no room', () => {
    const bytesOf = ({ messages }: (typeof senders)[number]) =>
      messages.reduce((sum, { body }) => sum + body.length, 0);
    const floods = senders.filter(({ atOnce }) => atOnce > 50).map(bytesOf);
    expect(Math.max(...floods)).toBeGreaterThan(2 * 2 ** 20);
  });
  it('is the same for the same seed', () => {
    expect(isDeepStrictEqual(createWorkload(createRandom(1), 100), senders)).toBe(true);
    expect(isDeepStrictEqual(createWorkload(createRandom(2), 100), senders)).toBe(false);
  });
});
