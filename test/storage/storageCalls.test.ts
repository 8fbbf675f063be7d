import type { ContainerClient } from '@azure/storage-blob';
import { expect, it } from 'vitest';
import { createStorageCalls } from '../../src/storage/storageCalls.ts';
import { withFakeTimers } from '../support/waiting.ts';

withFakeTimers();

const container = { client: () => ({}) as ContainerClient, attempt: () => async () => false };
const limits = { attemptMs: 4_000, attempts: 3, pauseMs: 200 };

it('A call is attempted with the rest of its time, including fractions of a millisecond', async () => {
  const { attempt } = createStorageCalls(container, 'storage', limits);
  for (const leftMs of [0.25, 3.5, 3_999.5, 10_000]) {
    await expect(attempt('reading', performance.now() + leftMs, async () => leftMs)).resolves.toBe(leftMs);
  }
});
