import { z } from 'zod';
import { deviceId, ms, often, text } from './fields.ts';

/** Faults of what services ask over HTTPS. */
export const requestFaults = [
  z
    .strictObject({
      kind: z.literal('rest'),
      answer: z.enum(['delay', 'silent', 'reset', 'status']).describe('late, never, by a RST, or with a status'),
      method: z.enum(['GET', 'PUT', 'POST', 'PATCH', 'DELETE']).optional(),
      path: text(256).optional().describe('only where the path has this text in it'),
      ms: ms.optional().describe('for delay; default 1000'),
      status: z.int().min(300).max(599).optional().describe('for status; default 500'),
      code: text(128).optional().describe('error code in the body; default InternalServerError'),
      ...often,
    })
    .describe('Requests over HTTPS (registry, twins, methods) go wrong.'),
  z
    .strictObject({
      kind: z.literal('method'),
      answer: z
        .enum(['refuse', 'delay', 'silent', 'reset', 'garbage'])
        .describe('refused with an error code, late, never, by a RST, or with what is no JSON'),
      deviceId,
      methodName: text(128).optional().describe('only this method; any when absent'),
      errorCode: z
        .int()
        .min(400_000)
        .max(599_999)
        .optional()
        .describe(
          'for refuse: the hub’s code, whose first three digits are the status; 429001 throttles, 401002 refuses the key, 404103 is a device that does not listen, 403800 one with too many calls; default 500001',
        ),
      ms: ms.optional().describe('for delay; default 1000'),
      effect: z.boolean().optional().describe('the device gets the call all the same; default no, but when delayed'),
      ...often,
    })
    .describe('Direct methods go wrong, in the words that the hub has for them.'),
] as const;
