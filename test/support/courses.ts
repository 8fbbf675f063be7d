import type { Course } from '../../src/observing/course.ts';

/** The course of a message, as those who work for it see it: nobody follows the device, and no spans are recorded. */
export const courseOf = (changes: Partial<Course> = {}): Course => ({
  begunAt: performance.now(),
  open: new Set(),
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  span: undefined,
  times: {},
  publish: undefined,
  ...changes,
});
