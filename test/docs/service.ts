import { startBackends } from '../../sandbox/backends/backends.ts';
import type { Reply } from '../../src/protocol/reply.ts';
import { settingsOf } from '../support/environment.ts';
import { hubEvent } from '../support/events.ts';
import { arrivalOf, forever, wire } from '../support/wiring.ts';

/** The service over the reference backends and their example world, without a hub: the same ids every time. */
export async function startService() {
  const reference = await startBackends({ seed: true });
  const replies: Reply[] = [];
  const { backends, dispatch } = wire({
    settings: settingsOf(reference).backends,
    async send(reply) {
      replies.push(reply);
      return 'delivered';
    },
  });
  let sequenceNumber = 0;

  return {
    /** @returns the replies, in order */
    async send(device: string, properties: Readonly<Record<string, string>>, body: string): Promise<Reply[]> {
      sequenceNumber += 1;
      await dispatch(arrivalOf(hubEvent({ device, properties, body, sequenceNumber })), forever);
      return replies.splice(0);
    },
    async close() {
      await backends.close();
      await reference.close();
    },
  };
}
