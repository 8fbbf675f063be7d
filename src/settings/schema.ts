import convict from 'convict';
import { settingFormats } from './formats.ts';
import { backends } from './groups/backends.ts';
import { delivery, scaling } from './groups/delivery.ts';
import { hub } from './groups/hub.ts';
import { messages, replies } from './groups/messages.ts';
import { http, log } from './groups/operations.ts';
import { checkpoints, data, deadLetters } from './groups/stores.ts';

convict.addFormats(settingFormats);

/**
 * Every setting: what it does, its format, its default and its environment name. Numbers also have the largest value that
 * makes sense. Secrets come from the environment only.
 */
export const schema = {
  hub,
  backends,
  messages,
  replies,
  delivery,
  scaling,
  data,
  checkpoints,
  deadLetters,
  http,
  log,
} satisfies convict.Schema<unknown>;

const typed = () => convict(schema);
export type Settings = ReturnType<ReturnType<typeof typed>['getProperties']>;
