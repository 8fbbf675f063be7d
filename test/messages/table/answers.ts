import { expect } from 'vitest';

/** What a device is told of a fault that is not its own. */
export const incident = expect.stringMatching(/^internal error, incident [0-9a-f-]{36}$/);

/** What is said of what another may do, but not this device. */
export const forbidden = (words: string): string => `${words} failed with HTTP 403: Forbidden: as it is`;

/** What the information model says of one related model. */
export const related = (model: string, more: object = {}) => ({
  model,
  success: true,
  code: 'ok',
  details: '',
  created: true,
  ...more,
});

/** One that could not be created. */
export const unrelated = (model: string, code: string, details: string) =>
  related(model, { success: false, code, details, created: false });

/** What devices are told of related models: not which of them were created. */
export const toldOf = (relatedModels: readonly ReturnType<typeof related>[]) =>
  relatedModels.map(({ created: _, ...one }) => one);
