import { randomUUID } from 'node:crypto';
import { within } from '../../concurrency/within.ts';
import type { ServiceAccess } from '../../identity/access.ts';
import { createHandOver } from './handOver.ts';
import { type SendRefusal, sendRefusalOf } from './sendFailure.ts';
import { newServiceClient } from './serviceSdk.ts';

const noRetry = { shouldRetry: () => false, nextRetryTimeout: () => -1 };
const closesWithinMs = 1_000;

/**
 * Sends one message to a device that does not exist: the hub says so only to those who may send.
 * @returns undefined when the hub takes the message
 * @throws the error of the client when there is no connection
 */
export async function trySending(access: ServiceAccess, answerMs: number): Promise<SendRefusal | undefined> {
  const client = newServiceClient(access);
  client.setRetryPolicy(noRetry);
  client.on('disconnect', () => undefined);
  const deviceId = `check-${randomUUID()}`;
  const sent = async () => {
    await client.open();
    const reply = { kind: 'notification', deviceId, messageId: deviceId, correlationId: undefined } as const;
    await createHandOver(client)({ ...reply, properties: {}, body: '{}' });
  };
  try {
    await within(sent(), answerMs);
    return undefined;
  } catch (error) {
    const refusal = sendRefusalOf(error as Error);
    if (refusal.kind === 'connection') throw error;
    return refusal;
  } finally {
    await within(client.close(), closesWithinMs).catch(() => undefined);
  }
}
