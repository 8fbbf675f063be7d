import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Refusal } from '../values/refusal.ts';
import { clausesOf } from '../values/sentences.ts';

const message = z.strictObject({
  /** A text is sent as it is, anything else as JSON; nothing when absent. */
  body: z.unknown().optional(),
  /** Of the application. */
  properties: z.record(z.string().min(1), z.string()).default({}),
});

const telemetry = z.strictObject({
  everyMs: z.int().min(10).max(86_400_000).default(1000),
  /** How many messages in all; for ever when absent. */
  times: z.int().min(1).optional(),
  /** They are sent in turn, and then from the first again. */
  messages: z.tuple([message], message),
});

const answer = z.strictObject({
  status: z.int().min(0).max(2_147_483_647).default(200),
  /** `null` when absent. */
  payload: z.unknown().default(null),
  delayMs: z.int().min(0).max(300_000).default(0),
});

const script = z
  .strictObject({ telemetry: telemetry.optional(), methods: z.record(z.string().min(1), answer).optional() })
  .refine(({ telemetry, methods }) => telemetry ?? methods, 'has neither telemetry nor methods');

/** What a device sends, and how it answers methods; one that is not named is answered with 501. */
export type Script = z.output<typeof script>;

/** Reads a script. Throws `Refusal`, which says where it is wrong. */
export function readScript(file: string): Script {
  const wrong = (why: string) => new Refusal('com.microsoft:argument-error', `--script ${file}: ${why}`);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw wrong(`it cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw wrong(`it is no JSON: ${(error as Error).message}`);
  }
  const { data, error } = script.safeParse(value);
  if (!data) throw wrong(clausesOf(error.issues, 'it', (field) => `there is no ${field} in a script`));
  return data;
}
