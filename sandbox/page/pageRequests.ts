import { z } from 'zod';
import { callers } from '../invoke/invokeOptions.ts';

/** What the page asks the sandbox for. */

const text = (most: number) => z.string().max(most);

export const newMessage = z.strictObject({
  deviceId: text(128).min(1),
  properties: z.record(text(256), text(64 * 1024)),
  /** Sent as it is, in UTF-8. */
  body: text(256 * 1024),
});

export const newInvocation = z.strictObject({
  objectId: text(256).min(1),
  model: text(256).min(1),
  method: text(256).min(1),
  caller: z.enum(callers).default('invoker'),
  /** JSON text, sent as it is; empty: none. */
  input: text(256 * 1024).default(''),
  /** Seconds; empty: the front door's own. */
  timeout: z
    .string()
    .regex(/^\d{0,6}$/)
    .default(''),
});
