import type { Client } from 'azure-iothub';
import { createReplies } from '../../../src/hub/replies/replies.ts';
import type { Meter } from '../../../src/observing/metrics.ts';
import { timing } from '../../../src/settings/constants.ts';
import { settings } from '../../support/environment.ts';
import { silence, untold } from './replying.ts';

const defaults = { ...settings.replies, maxWaitSeconds: timing.replySeconds };

/** Replies as the service has them, but for a setting, over a client whose sends end like this. */
export function repliesOver(send: () => Promise<unknown>, changed: Partial<typeof defaults> = {}, meter?: Meter) {
  const client = { open: async () => {}, close: async () => {}, setRetryPolicy() {}, on() {}, send };
  const newClient = () => client as unknown as Client;
  return createReplies({ ...defaults, ...changed, newClient, log: silence, troubles: untold, meter });
}
