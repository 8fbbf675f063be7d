import { z } from 'zod';

// What several kinds of faults have.

export function text(most: number) {
  return z.string().min(1).max(most);
}

export const deviceId = text(128).optional().describe('only this device; any when absent');

export const ms = z.int().min(0).max(3_600_000);

/** How often a fault that stands strikes (for ever when absent), after how many that pass unharmed. */
export const often = {
  times: z.int().positive().optional().describe('how often it strikes; for ever when absent'),
  skip: z.int().min(0).optional().describe('how many it lets pass first'),
};
