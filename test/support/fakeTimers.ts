import { afterEach, beforeEach, vi } from 'vitest';

/** The time of each test that follows is its own. */
export function withFakeTimers(): void {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
}
