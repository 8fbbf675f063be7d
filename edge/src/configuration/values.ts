import { z } from 'zod';

/** Formats of single values. Each message completes `{path}: `. */

const guidForm = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

export const whole = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, error).max(most, error);
};

export const file = z.string().min(1, 'must be the path of a file');

export const guid = z.string().regex(guidForm, 'must be a GUID');

/** Segments joined by `/`; the first may be empty (`/a/b`). */
const topicForm = /^(?!\$)\/?[^/]+(?:\/[^/]+)*$/;

/** Prefix of topics (M10). */
export const topic = z
  .string()
  .refine((text) => !/[+#]/.test(text), 'must not contain the wildcards + or #')
  .refine(
    (text) => topicForm.test(text) && isTopicText(text) && Buffer.byteLength(text) <= 512,
    'must be a topic: at most 512 bytes, segments joined by /, none of them empty, no control characters, not beginning with $',
  );

/** Whether brokers accept the text in a topic. */
export const isTopicText = (text: string): boolean =>
  text.isWellFormed() && !/[\p{Cc}\p{Noncharacter_Code_Point}]/u.test(text);

/** A connectivity path below the device (P5); empty: the device itself. */
export const path = z
  .string()
  .refine(
    (text) =>
      text === '' || (!/\p{Cc}/u.test(text) && text.split('/').every((name) => !['', '.', '..'].includes(name))),
    'must be a path: names joined by /, none of them empty, . or .., no control characters',
  );
